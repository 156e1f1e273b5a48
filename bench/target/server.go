//go:build linux

// Package target has what is measured: built programs and PostgreSQL itself.
package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"slipway/bench/data"
	"slipway/bench/load"
	"slipway/bench/process"
	"slipway/bench/report"
	"slipway/bench/requests"
)

// Database is what a target works on.
type Database interface {
	// CheckWritten returns an error where there are not the rows of so many rollbacks.
	CheckWritten(ctx context.Context, rollbacks int) error
	// Clear removes the rows of rollbacks.
	Clear(ctx context.Context) error
}

// Counter is a database that can count the statements that are sent while a function runs.
type Counter interface {
	CountStatements(ctx context.Context, f func() error) (int, error)
}

// Processor is a database that is a process of its own; it returns the time of the processor that it has taken.
type Processor interface {
	CPU() (time.Duration, error)
}

// Server is what answers requests over HTTP: one process, or several that share the connections.
type Server struct {
	name     string
	world    data.World
	database Database
	// asked returns what is sent for a kind of request, and false where the server cannot be asked it.
	asked func(*requests.Kind) (*requests.Kind, bool)

	processes []*running
	// hosts are the addresses of the processes, profiles those of what they have allocated, where they tell.
	hosts, profiles []string
}

// Stop ends the processes.
func (s *Server) Stop() (err error) {
	for _, p := range s.processes {
		err = errors.Join(err, p.stop())
	}
	return err
}

// Name is that in the table.
func (s *Server) Name() string { return s.name }

// Measures reports whether the server can be asked a kind of request.
func (s *Server) Measures(kind *requests.Kind) bool {
	_, ok := s.asked(kind)
	return ok
}

// Warm sends requests for a time, and then counts what some more take.
func (s *Server) Warm(ctx context.Context, kind *requests.Kind, connections int, duration time.Duration) (counts report.Counts, err error) {
	counts = report.Uncounted
	const most = 50 // of each connection
	err = s.with(ctx, kind, connections, 0, func(l *load.Load) (load.Result, error) { return l.Run(ctx, duration, 0) })
	if err != nil {
		return counts, err
	}
	var made int
	counted := func() error {
		return s.with(ctx, kind, connections, 0, func(l *load.Load) (r load.Result, err error) {
			before, err := s.allocations(ctx)
			if err != nil {
				return r, err
			}
			if r, err = l.Run(ctx, 0, most); err != nil {
				return r, err
			}
			after, err := s.allocations(ctx)
			if err != nil {
				return r, err
			}
			idle, err := s.allocations(ctx) // what it takes to ask
			if err != nil {
				return r, err
			}
			made = r.Requests
			n := float64(made)
			if len(s.profiles) == 0 {
				return r, nil // it does not tell
			}
			counts.Allocations = (2*after.count - before.count - idle.count) / n
			counts.AllocatedBytes = (2*after.bytes - before.bytes - idle.bytes) / n
			return r, nil
		})
	}
	counter, ok := s.database.(Counter)
	if !ok {
		return counts, counted()
	}
	statements, err := counter.CountStatements(ctx, counted)
	if err == nil && statements >= 0 {
		counts.Statements = float64(statements) / float64(made)
	}
	return counts, err
}

// with calls f with a load, and looks at what came of it: at the answers, and for what writes at the rows.
func (s *Server) with(ctx context.Context, kind *requests.Kind, connections int, seed uint64, f func(*load.Load) (load.Result, error)) (err error) {
	kind, _ = s.asked(kind)
	l, err := load.Prepare(kind, s.world, s.hosts, connections, seed)
	if err != nil {
		return err
	}
	r, err := f(l)
	if err == nil {
		err = l.Check()
	}
	if err != nil {
		err = fmt.Errorf("%w%s", err, s.complaints())
	}
	if kind.Writes {
		if err == nil {
			err = s.database.CheckWritten(ctx, r.Requests)
		}
		err = errors.Join(err, s.database.Clear(ctx))
	}
	return errors.Join(err, l.Close())
}

// Round measures the server for a time. The seed varies what is asked for.
func (s *Server) Round(ctx context.Context, kind *requests.Kind, connections int, duration time.Duration, seed uint64) (m report.Measurement, err error) {
	err = s.with(ctx, kind, connections, seed, func(l *load.Load) (r load.Result, err error) {
		if _, err := s.sum(func(pid int) (int, error) { return 0, process.ResetPeak(pid) }); err != nil {
			return r, err
		}
		own := measured(s.cpu)
		database := noCPU
		if p, ok := s.database.(Processor); ok {
			database = p.CPU
		}
		of := measured(database)
		if r, err = l.Run(ctx, duration, 0); err != nil {
			return r, err
		}
		if m.ServerCPU, err = own.each(r.Requests); err != nil {
			return r, err
		}
		if m.DatabaseCPU, err = of.each(r.Requests); err != nil {
			return r, err
		}
		if m.PeakMemory, err = s.sum(process.PeakMemory); err != nil {
			return r, err
		}
		m.Requests, m.PerSecond = r.Requests, r.PerSecond()
		m.P50, m.P99 = report.Percentile(r.Latencies, .5), report.Percentile(r.Latencies, .99)
		m.Bytes = float64(r.Bytes) / float64(max(r.Requests, 1))
		return r, nil
	})
	return m, err
}

// cpu returns the time of a processor that the processes have taken.
func (s *Server) cpu() (time.Duration, error) {
	total, err := s.sum(func(pid int) (int, error) {
		d, err := process.CPU(pid)
		return int(d), err
	})
	return time.Duration(total), err
}

// sum returns the sum of a figure over the processes.
func (s *Server) sum(of func(pid int) (int, error)) (sum int, err error) {
	for _, p := range s.processes {
		n, err := of(p.command.Process.Pid)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// complaints returns the first errors that the processes have logged, a line each.
func (s *Server) complaints() string {
	const most = 3
	var all []string
	for _, p := range s.processes {
		text, err := os.ReadFile(p.log.Name())
		if err != nil {
			return "\n" + err.Error()
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, `"level":"ERROR"`) && len(all) < most {
				all = append(all, "\n"+strings.TrimSpace(line))
			}
		}
	}
	return strings.Join(all, "")
}
