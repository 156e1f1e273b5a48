//go:build linux

// Bench measures the built program over HTTP, beside PostgreSQL itself:
//
//	bench --rows 100000 --server before=/tmp/slipway --server after=bin/optimized/slipway
//
// It makes its own PostgreSQL and keeps it for the next run. Every answer is checked; a wrong one ends the run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"slipway/bench/requests"
)

// options are the flags.
type options struct {
	rows, rounds, connections int
	seconds, warm             time.Duration
	servers                   servers
	postgres, cache           string
	floor, json               string
	kinds, peers              string
	ceiling, sqlite           bool
}

// server is a build of the program.
type server struct{ name, path string }

// servers is a flag that may be repeated: NAME=PATH.
type servers []server

func (s *servers) String() string { return fmt.Sprint(*s) }

// Set implements flag.Value.
func (s *servers) Set(text string) error {
	name, path, ok := strings.Cut(text, "=")
	if !ok || name == "" || path == "" {
		return errors.New("want NAME=PATH")
	}
	*s = append(*s, server{name, path})
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o)
	}
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.IntVar(&o.rows, "rows", 100_000, "how many deployments there are")
	f.IntVar(&o.rounds, "rounds", 3, "how often each target is measured under each request")
	f.DurationVar(&o.seconds, "time", 2*time.Second, "how long a round lasts, in whole seconds")
	f.DurationVar(&o.warm, "warm", time.Second, "how long requests are sent before the first round, in whole seconds")
	f.IntVar(&o.connections, "connections", 16, "how many connections send requests at once")
	f.Var(&o.servers, "server", "a build of the program, NAME=PATH, as often as there are some to compare; "+
		"slipway=bin/optimized/slipway where there is none")
	f.StringVar(&o.postgres, "postgres", "", "URL of a superuser of a PostgreSQL that runs; without it one is started")

	f.StringVar(&o.cache, "cache", "bench/.cache", "folder that keeps the databases for the next run")
	f.StringVar(&o.kinds, "requests", "", "names of the requests with commas between; all where there is none")
	f.StringVar(&o.floor, "floor", "", "bench/floor, built, to be measured, too")
	f.StringVar(&o.peers, "peers", "", "names of other GraphQL servers with commas between, or all; none where there is "+
		"no name")
	f.BoolVar(&o.ceiling, "ceiling", true, "measure PostgreSQL itself, too")
	f.BoolVar(&o.sqlite, "sqlite", true, "measure the first server on SQLite, too")
	f.StringVar(&o.json, "json", "", "file that is written with all figures")
	if err := f.Parse(args); err != nil {
		return o, err
	}

	if len(o.servers) == 0 {
		o.servers = servers{{"slipway", "bin/optimized/slipway"}}
	}

	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", f.Arg(0))
	case o.rows < 1, o.rounds < 1, o.connections < 1, o.seconds < time.Second, o.warm < time.Second:
		return o, errors.New("--rows, --rounds, --connections, --time and --warm: want at least 1, and 1s")
	}

	return o, nil
}

// chosen returns the kinds of requests that are measured.
func (o options) chosen() ([]*requests.Kind, error) {
	all := requests.All()
	if o.kinds == "" {
		return all, nil
	}
	var some []*requests.Kind
	for name := range strings.SplitSeq(o.kinds, ",") {
		i := slices.IndexFunc(all, func(k *requests.Kind) bool { return k.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("--requests: there is no %q", name)
		}
		some = append(some, all[i])
	}
	return some, nil
}
