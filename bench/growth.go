//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"slipway/bench/data"
	"slipway/bench/database"
	"slipway/bench/report"
	"slipway/bench/requests"
	"slipway/bench/target"
)

// What grows: the servers on one database, and the connections to one server.
var (
	fleets      = []int{1, 2, 4}
	connections = []int{16, 64, 256}
)

// growth measures the first server over more and more deployments, by more and more servers, over more and more connections.
func growth(ctx context.Context, o options) error {
	sizes, err := o.growthSizes()
	if err != nil {
		return err
	}
	bySize, byFleet, byConnections := &report.Report{}, &report.Report{}, &report.Report{}
	for _, size := range sizes {
		if err = measureSize(ctx, o, size, bySize); err != nil {
			err = fmt.Errorf("%d deployments: %w", size, err)
			break
		}
	}
	if err == nil {
		err = measureServers(ctx, o, byFleet, byConnections)
	}
	// What was measured before something failed is shown, too.
	all := []*report.Report{bySize, byFleet, byConnections}
	for _, r := range all {
		err = errors.Join(err, r.Markdown(os.Stdout))
	}
	return errors.Join(err, writeJSON(o.json, all))
}

// growthSizes are the numbers of deployments.
func (o options) growthSizes() (sizes []int, err error) {
	for text := range strings.SplitSeq(o.growth, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("--growth: %q is not a number of deployments", text)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// grow calls f with a run over so many deployments, and ends it.
func grow(ctx context.Context, o options, f func(*bench, *database.Postgres) error) (err error) {
	b := &bench{options: o, world: data.World{Deployments: o.rows}, progress: newProgress(os.Stderr)}
	defer func() { err = errors.Join(err, b.end()) }()
	p, err := b.openPostgres(ctx)
	if err != nil {
		return err
	}
	b.stop = append(b.stop, p.Close)
	return f(b, p)
}

func measureSize(ctx context.Context, o options, size int, r *report.Report) error {
	o.rows = size
	return grow(ctx, o, func(b *bench, p *database.Postgres) error {
		s, err := target.StartProgram(ctx, fmt.Sprintf("%d deployments", size), o.servers[0].path, 1, p.URL, b.world, p)
		if err := b.add(s, err); err != nil {
			return err
		}
		cursors, err := s.Oldest(ctx, requests.Paged(b.world))
		if err != nil {
			return err
		}
		for _, k := range requests.Growth(cursors) {
			if cursors.HasPages(k) {
				b.kinds = append(b.kinds, k)
			}
		}
		b.describe(ctx, r)
		return b.measure(ctx, r)
	})
}

// measureServers measures several servers on one database, and then one server over several numbers of connections.
func measureServers(ctx context.Context, o options, byFleet, byConnections *report.Report) error {
	return grow(ctx, o, func(b *bench, p *database.Postgres) (err error) {
		if b.kinds, err = b.chosen(); err != nil {
			return err
		}
		for _, n := range fleets {
			if err := b.add(target.StartProgram(ctx, fmt.Sprintf("servers: %d", n), o.servers[0].path, n, p.URL, b.world, p)); err != nil {
				return err
			}
		}
		b.describe(ctx, byFleet)
		if err := b.measure(ctx, byFleet); err != nil {
			return err
		}
		for _, n := range connections {
			if err := b.stopTargets(); err != nil {
				return err
			}
			b.connections = n
			if err := b.add(target.StartProgram(ctx, fmt.Sprintf("connections: %d", n), o.servers[0].path, 1, p.URL, b.world, p)); err != nil {
				return err
			}
			b.describe(ctx, byConnections)
			if err := b.measure(ctx, byConnections); err != nil {
				return err
			}
		}
		return nil
	})
}
