//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"slipway/bench/data"
	"slipway/bench/report"
	"slipway/bench/requests"
	"slipway/bench/target"
)

// measurable is something whose speed is measured.
type measurable interface {
	Name() string
	Measures(*requests.Kind) bool
	// Warm sends requests for a time.
	Warm(ctx context.Context, k *requests.Kind, connections int, d time.Duration) error
	// Round measures for a time; the seed varies what is asked for.
	Round(ctx context.Context, k *requests.Kind, connections int, d time.Duration, seed uint64) (report.Measurement, error)
	Stop() error
}

// bench is a run.
type bench struct {
	options
	kinds    []*requests.Kind
	world    data.World
	progress *progress
	targets  []measurable
	// stop has what is to be stopped after the targets.
	stop []func() error
}

func run(ctx context.Context, o options) (err error) {
	b := &bench{options: o, world: data.World{Deployments: o.rows}, progress: &progress{out: os.Stderr}}
	if b.kinds, err = o.chosen(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	if err := b.open(ctx); err != nil {
		return err
	}
	r := b.report(ctx)
	if err := b.measure(ctx, r); err != nil {
		return err
	}
	if o.ceiling {
		r.Ceiling = target.CeilingName
		r.Compare()
	}
	return errors.Join(r.Markdown(os.Stdout), writeJSON(o.json, r))
}

// end stops all that was started.
func (b *bench) end() error {
	var err error
	for _, t := range b.targets {
		err = errors.Join(err, t.Stop())
	}
	for _, stop := range slices.Backward(b.stop) {
		err = errors.Join(err, stop())
	}
	return err
}

// report returns a report of what is to be measured, without figures.
func (b *bench) report(ctx context.Context) *report.Report {
	r := &report.Report{Setting: b.setting(ctx)}
	for _, k := range b.kinds {
		r.Requests = append(r.Requests, report.Title{Name: k.Name, Title: k.Title})
	}
	for _, t := range b.targets {
		r.Targets = append(r.Targets, t.Name())
	}
	return r
}

// measure warms every target under every request, and then takes the rounds. The targets take turns, in the other order
// in every other round, so that what else the machine does meets all alike.
func (b *bench) measure(ctx context.Context, r *report.Report) error {
	runs := 0
	for _, k := range b.kinds {
		runs += len(b.measuring(k))
	}

	done, total := 0, runs*(1+b.rounds)
	for round := range 1 + b.rounds {
		for _, k := range b.kinds {
			targets := b.measuring(k)
			if round%2 == 0 {
				slices.Reverse(targets)
			}
			for _, t := range targets {
				b.progress.round(k.Name, t.Name(), round, done, total)
				if err := b.take(ctx, k, t, round, r.Entry(k.Name, t.Name())); err != nil {
					return fmt.Errorf("%s under %s: %w", t.Name(), k.Name, err)
				}
				done++
			}
		}
	}

	return nil
}

// measuring returns the targets that a kind of request is measured on.
func (b *bench) measuring(k *requests.Kind) (targets []measurable) {
	for _, t := range b.targets {
		if t.Measures(k) {
			targets = append(targets, t)
		}
	}
	return targets
}

func (b *bench) take(ctx context.Context, k *requests.Kind, t measurable, round int, e *report.Entry) (err error) {
	if round == 0 {
		return t.Warm(ctx, k, b.connections, b.warm)
	}
	m, err := t.Round(ctx, k, b.connections, b.seconds, uint64(round))
	e.Rounds = append(e.Rounds, m)
	return err
}

// setting says what is measured, and where.
func (b *bench) setting(ctx context.Context) []string {
	revision := "unknown"
	if out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output(); err == nil {
		revision = strings.TrimSpace(string(out))
	}
	return []string{
		fmt.Sprintf(
			"%d deployments, %d connections, %d rounds of %s, %s", b.rows, b.connections, b.rounds, b.seconds,
			time.Now().UTC().Format(time.DateOnly),
		),
		fmt.Sprintf("%s/%s, %d processors, %s, commit %s",
			runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), revision),
	}
}

func writeJSON(file string, r *report.Report) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
