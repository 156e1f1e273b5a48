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
	// CheckWritten returns an error if there are not the rows of so many rollbacks.
	CheckWritten(ctx context.Context, rollbacks int) error
	// Clear removes the rows of rollbacks.
	Clear(ctx context.Context) error
	// CPU returns the time of a processor that its own processes have taken, 0 if it has none.
	CPU() (time.Duration, error)
}

// Server is what answers requests over HTTP: a process with all that it starts.
type Server struct {
	name     string
	world    data.World
	database Database
	// asked returns what is sent for a kind of request, and false if the server cannot be asked it.
	asked func(*requests.Kind) (*requests.Kind, bool)

	process *running
	// host is its address.
	host string
}

// Stop ends the process.
func (s *Server) Stop() error {
	if s.process == nil {
		return nil // it could not be started
	}
	return s.process.stop()
}

// Name is that in the table.
func (s *Server) Name() string { return s.name }

// Measures reports whether the server can be asked a kind of request.
func (s *Server) Measures(kind *requests.Kind) bool {
	_, ok := s.asked(kind)
	return ok
}

// Warm sends requests for a time.
func (s *Server) Warm(ctx context.Context, kind *requests.Kind, connections int, duration time.Duration) error {
	return s.with(ctx, kind, connections, 0, func(l *load.Load) (load.Result, error) { return l.Run(ctx, duration) })
}

// with calls f with a load, and looks at what came of it: at the answers, and for what writes at the rows.
func (s *Server) with(
	ctx context.Context, kind *requests.Kind, connections int, seed uint64, f func(*load.Load) (load.Result, error),
) (err error) {
	kind, _ = s.asked(kind)
	l, err := load.Prepare(kind, s.world, s.host, connections, seed)
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
func (s *Server) Round(
	ctx context.Context, kind *requests.Kind, connections int, duration time.Duration, seed uint64,
) (m report.Measurement, err error) {
	err = s.with(ctx, kind, connections, seed, func(l *load.Load) (r load.Result, err error) {
		pid := s.process.command.Process.Pid
		if err := process.ResetPeak(pid); err != nil {
			return r, err
		}

		own := measured(func() (time.Duration, error) { return process.CPU(pid) })
		of := measured(s.database.CPU)
		if r, err = l.Run(ctx, duration); err != nil {
			return r, err
		}
		if m.ServerCPU, err = own.each(r.Requests); err != nil {
			return r, err
		}
		if m.DatabaseCPU, err = of.each(r.Requests); err != nil {
			return r, err
		}
		if m.PeakMemory, err = process.PeakMemory(pid); err != nil {
			return r, err
		}

		m.Requests, m.PerSecond = r.Requests, r.PerSecond()
		m.P50, m.P99 = report.Percentile(r.Latencies, .5), report.Percentile(r.Latencies, .99)
		m.Bytes = float64(r.Bytes) / float64(max(r.Requests, 1))
		return r, nil
	})

	return m, err
}

// complaints returns the first errors that the process has logged, a line each.
func (s *Server) complaints() string {
	const most = 3
	text, err := os.ReadFile(s.process.log.Name())
	if err != nil {
		return "\n" + err.Error()
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"level":"ERROR"`) && len(all) < most {
			all = append(all, "\n"+strings.TrimSpace(line))
		}
	}
	return strings.Join(all, "")
}
