// Package target has what is measured: the built program and PostgreSQL itself.
package target

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
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

// Server is a server that runs as a process of its own.
type Server struct {
	name     string
	world    data.World
	database Database

	host, profiles string
	command        *exec.Cmd
	log            *os.File
	exited         chan struct{}
}

// startTimeout is how long a server may take until it serves.
const startTimeout = 30 * time.Second

// StartProgram starts the built program with its default limits and waits until it serves. The caller stops it.
func StartProgram(ctx context.Context, name, program, databaseURL string, w data.World, d Database) (*Server, error) {
	s := &Server{name: name, world: w, database: d}
	s.command = exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "", "--debug-listen", "127.0.0.1:0", "--log-format", "json")
	s.command.Env = append(os.Environ(), "SLIPWAY_DATABASE="+databaseURL)
	if err := s.start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	if err := s.await(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program, err), s.Stop())
	}
	return s, nil
}

// start starts the process, whose log goes to a file: nobody has to read it while something is measured.
func (s *Server) start() (err error) {
	if s.log, err = os.CreateTemp("", "slipway-bench-*.log"); err != nil {
		return err
	}
	s.command.Stdout, s.command.Stderr = s.log, s.log
	if err := s.command.Start(); err != nil {
		return errors.Join(err, s.log.Close(), os.Remove(s.log.Name()))
	}
	s.exited = make(chan struct{})
	go func() {
		_ = s.command.Wait() // how it ended is in its log
		close(s.exited)
	}()
	return nil
}

// await waits until the log names the addresses.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for s.host == "" {
		if err := s.readAddresses(); err != nil {
			return err
		}
		select {
		case <-s.exited:
			text, _ := os.ReadFile(s.log.Name())
			return fmt.Errorf("it has ended:\n%.4000s", text)
		case <-ctx.Done():
			return fmt.Errorf("it does not serve: %w", ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

func (s *Server) readAddresses() error {
	log, err := os.Open(s.log.Name())
	if err != nil {
		return err
	}
	defer log.Close()
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue // not written to its end yet
		}
		u, err := url.Parse(line.URL)
		if err != nil {
			return err
		}
		switch line.Msg {
		case "serving":
			s.host = u.Host
		case "serving profiles":
			s.profiles = u.Host
		}
	}
	return nil
}

// Stop ends the process.
func (s *Server) Stop() error {
	const patience = 10 * time.Second
	_ = s.command.Process.Signal(syscall.SIGTERM) // which fails where it has ended
	select {
	case <-s.exited:
	case <-time.After(patience):
		_ = s.command.Process.Kill()
		<-s.exited
	}
	return errors.Join(s.log.Close(), os.Remove(s.log.Name()))
}

// Name is that in the table.
func (s *Server) Name() string { return s.name }

// Measures reports whether the server can be asked a kind of request.
func (s *Server) Measures(*requests.Kind) bool { return true }

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
			made = r.Requests
			n := float64(made)
			counts.Allocations = (2*after.count - before.count - idle.count) / n
			counts.AllocatedBytes = (2*after.bytes - before.bytes - idle.bytes) / n
			return r, err
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
	l, err := load.Prepare(kind, s.world, s.host, connections, seed)
	if err != nil {
		return err
	}
	r, err := f(l)
	if err == nil {
		err = l.Check()
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
		pid := s.command.Process.Pid
		if err := process.ResetPeak(pid); err != nil {
			return r, err
		}
		own := measured(func() (time.Duration, error) { return process.CPU(pid) })
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

func noCPU() (time.Duration, error) { return 0, nil }

// usage is the time of a processor from one moment on.
type usage struct {
	cpu   func() (time.Duration, error)
	begin time.Duration
	err   error
}

func measured(cpu func() (time.Duration, error)) *usage {
	begin, err := cpu()
	return &usage{cpu, begin, err}
}

// each returns the time since then for each of so many requests.
func (u *usage) each(requests int) (time.Duration, error) {
	end, err := u.cpu()
	return (end - u.begin) / time.Duration(max(requests, 1)), errors.Join(u.err, err)
}

// allocated is what a server has allocated since it began.
type allocated struct{ count, bytes float64 }

var (
	mallocs    = regexp.MustCompile(`(?m)^# Mallocs = (\d+)$`)
	totalAlloc = regexp.MustCompile(`(?m)^# TotalAlloc = (\d+)$`)
)

// allocations asks for what the server has allocated: its profile of the heap ends with the runtime's own figures.
func (s *Server) allocations(ctx context.Context) (a allocated, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.profiles+"/debug/pprof/heap?debug=1", nil)
	if err != nil {
		return a, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return a, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return a, err
	}
	if a.count, err = numberIn(mallocs, text); err != nil {
		return a, err
	}
	a.bytes, err = numberIn(totalAlloc, text)
	return a, err
}

func numberIn(pattern *regexp.Regexp, text []byte) (float64, error) {
	found := pattern.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("there is no line like %s in\n%.4000s", pattern, text)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
