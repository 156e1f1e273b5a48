//go:build linux

package main

import (
	"context"
	"path/filepath"

	"slipway/bench/database"
	"slipway/bench/target"
)

// open makes the databases and starts the targets.
func (b *bench) open(ctx context.Context) error {
	p, err := b.openPostgres(ctx)
	if err != nil {
		return err
	}

	b.stop = append(b.stop, p.Close)
	for _, s := range b.servers {
		if err := b.add(target.StartProgram(ctx, s.name, s.path, p.URL, b.world, p)); err != nil {
			return err
		}
	}

	if b.floor != "" {
		if err := b.add(target.StartFloor(ctx, b.floor, p.URL, b.world, p)); err != nil {
			return err
		}
	}

	if err := b.startPeers(ctx, p); err != nil {
		return err
	}

	if b.ceiling {
		t, err := target.NewCeiling(p, b.world)
		if err != nil {
			return err
		}
		b.targets = append(b.targets, t)
	}

	if !b.sqlite {
		return nil
	}
	file, err := database.OpenSQLite(ctx, b.cache, b.world, b.progress.fill)
	if err != nil {
		return err
	}

	b.stop = append(b.stop, file.Close)
	return b.add(target.StartProgram(ctx, b.servers[0].name+" on SQLite", b.servers[0].path, file.URL, b.world, file))
}

func (b *bench) openPostgres(ctx context.Context) (*database.Postgres, error) {
	if b.postgres != "" {
		return database.OpenPostgresAt(ctx, b.postgres, b.world, b.progress.fill)
	}
	return database.OpenPostgres(ctx, filepath.Join(b.cache, "postgres"), b.world, b.progress.fill)
}

// add makes a server that was started a target.
func (b *bench) add(s *target.Server, err error) error {
	if err == nil {
		b.targets = append(b.targets, s)
	}
	return err
}

// startPeers starts the peers, each with every number of workers.
func (b *bench) startPeers(ctx context.Context, p *database.Postgres) error {
	if b.peers == "" {
		return nil
	}
	peers, err := target.Peers("bench/peers", b.peers)
	if err != nil {
		return err
	}

	for _, peer := range peers {
		setup, err := peer.SetupSQL()
		if err != nil {
			return err
		}
		if err := p.SetUp(ctx, setup); err != nil {
			return err
		}
		for _, workers := range target.Workers {
			if err := b.add(target.StartPeer(ctx, peer, workers, p.URL, b.world, p)); err != nil {
				return err
			}
		}
	}

	return nil
}
