package dependency

import (
	"context"
	"slices"
	"strings"

	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/data/store"
)

// textsAtOnce is how many releases are searched by one statement.
const textsAtOnce = 500

// search adds the dependents of which nothing is kept: those whose release names one of the instances anywhere.
func (f Finder) search(ctx context.Context, instanceIDs []string, found map[string][]string) error {
	shippers, releases, err := f.unkept(ctx)
	if err != nil {
		return err
	}

	wanted := make(map[string]bool, len(instanceIDs))
	for _, id := range instanceIDs {
		wanted[id] = true
	}

	scope := store.Scope(actor.From(ctx))
	for some := range slices.Chunk(releases, textsAtOnce) {
		err := f.Read(ctx, texts(f.Store.Postgres()), []any{f.Store.List(some), scope}, func(row store.Rows) error {
			var release, text string
			var bytes int
			if err := row.Scan(&release, &bytes, &text); err != nil {
				return err
			}
			for on := range namesOf(text, wanted) {
				found[on] = append(found[on], shippers[release]...)
			}
			return meter.Spend(ctx, meter.Proved, bytes)
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// unkept returns the releases of which a live or an active deployment has kept nothing, and the instances of these by
// them.
func (f Finder) unkept(ctx context.Context) (shippers map[string][]string, releases []string, err error) {
	shippers = map[string][]string{}
	err = f.Read(ctx, unkept(f.Store.Postgres()), []any{store.Scope(actor.From(ctx))}, func(row store.Rows) error {
		var instance, release string
		if err := row.Scan(&instance, &release); err != nil {
			return err
		}
		if shippers[release] == nil {
			releases = append(releases, release)
		}
		shippers[release] = append(shippers[release], instance)
		return meter.Spend(ctx, meter.Stored, pairBytes)
	})
	return shippers, releases, err
}

// idLength is the length of the id of an instance.
const idLength = len("inst_") + 26

// namesOf returns those of the wanted ids that a text has.
func namesOf(text string, wanted map[string]bool) map[string]bool {
	names := map[string]bool{}
	for {
		at := strings.Index(text, "inst_")
		if at < 0 {
			return names
		}
		text = text[at:]
		if len(text) >= idLength && wanted[text[:idLength]] {
			names[text[:idLength]] = true
		}
		text = text[len("inst_"):]
	}
}
