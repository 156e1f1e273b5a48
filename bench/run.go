//go:build linux

package main

import (
	"bytes"
	"cmp"
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
	// Warm sends requests for a time, and counts what one takes.
	Warm(ctx context.Context, k *requests.Kind, connections int, d time.Duration) (report.Counts, error)
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
	// peerNames are the names of those targets that are peers.
	peerNames []string
	// stop has what is to be stopped after the targets.
	stop []func() error
}

func run(ctx context.Context, o options) (err error) {
	b := &bench{options: o, world: data.World{Deployments: o.rows}, progress: newProgress(os.Stderr)}
	if b.kinds, err = o.chosen(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	if err := b.open(ctx); err != nil {
		return err
	}
	r := &report.Report{Peers: b.peerNames}
	b.describe(ctx, r)
	if o.floor != "" {
		r.Floor = target.FloorName
	}
	if err := b.measure(ctx, r); err != nil {
		return err
	}
	if o.ceiling {
		r.Ceiling = target.CeilingName
		r.Compare()
	}
	return errors.Join(r.Markdown(os.Stdout), writeJSON(o.json, r), writeSVG(o.svg, r))
}

// end stops all that was started.
func (b *bench) end() error {
	err := b.stopTargets()
	for _, stop := range slices.Backward(b.stop) {
		err = errors.Join(err, stop())
	}
	return err
}

func (b *bench) stopTargets() (err error) {
	for _, t := range b.targets {
		err = errors.Join(err, t.Stop())
	}
	b.targets = nil
	return err
}

// describe adds to a report what is measured now.
func (b *bench) describe(ctx context.Context, r *report.Report) {
	r.Setting = append(r.Setting, b.setting(ctx)...)
	for _, k := range b.kinds {
		title := report.Title{Name: k.Name, Title: k.Title}
		if !slices.Contains(r.Requests, title) {
			r.Requests = append(r.Requests, title)
		}
	}
	for _, t := range b.targets {
		r.Targets = append(r.Targets, t.Name())
	}
}

// measure warms every target under every request, and then takes the rounds. The targets take turns, in the other order in
// every other round, so that what else the machine does meets all alike.
func (b *bench) measure(ctx context.Context, r *report.Report) error {
	done, total := 0, 0
	for _, k := range b.kinds {
		for _, t := range b.targets {
			if t.Measures(k) {
				total += 1 + b.rounds
			}
		}
	}
	for round := range 1 + b.rounds {
		for _, k := range b.kinds {
			targets := slices.Clone(b.targets)
			if round%2 == 0 {
				slices.Reverse(targets)
			}
			for _, t := range targets {
				if !t.Measures(k) {
					continue
				}
				b.progress.round(k.Name, t.Name(), round, b.rounds, done, total)
				if err := b.take(ctx, k, t, round, r.Entry(k.Name, t.Name())); err != nil {
					return fmt.Errorf("%s under %s: %w", t.Name(), k.Name, err)
				}
				done++
			}
		}
	}
	b.progress.end()
	return nil
}

func (b *bench) take(ctx context.Context, k *requests.Kind, t measurable, round int, e *report.Entry) (err error) {
	if round == 0 {
		e.Counts, err = t.Warm(ctx, k, b.connections, b.warm)
		return err
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
		fmt.Sprintf("%d deployments, %d connections, %d rounds of %s, %s", b.rows, b.connections, b.rounds, b.seconds, time.Now().UTC().Format(time.DateOnly)),
		fmt.Sprintf("%s/%s, %d processors, %s, commit %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), cmp.Or(revision, "unknown")),
	}
}

func writeJSON(file string, r any) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

func writeSVG(file string, r *report.Report) error {
	if file == "" {
		return nil
	}
	var picture bytes.Buffer
	if err := r.SVG(&picture); err != nil {
		return err
	}
	return os.WriteFile(file, picture.Bytes(), 0o644)
}
