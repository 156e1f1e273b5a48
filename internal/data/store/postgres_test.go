package store_test

import (
	"context"
	"errors"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

func TestSessionsHaveTheServersSettingsUnlessTheURLHasOthers(t *testing.T) {
	t.Parallel()
	url := worldtest.Postgres(t)
	for options, want := range map[string]string{"": "1 off", "&options=-c%20random_page_cost%3D4%20-c%20jit%3Don": "4 on"} {
		s, err := store.Open(t.Context(), store.Config{URL: url + options})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var got string
		ctx := actor.With(t.Context(), &actor.Actor{Role: actor.System})
		never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
		err = s.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
			rows, err := tx.QueryContext(ctx, "SELECT current_setting('random_page_cost') || ' ' || current_setting('jit')")
			if err != nil {
				return err
			}
			for rows.Next() {
				if err := rows.Scan(&got); err != nil {
					return err
				}
			}
			return errors.Join(rows.Err(), rows.Close())
		})
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", options, got, err, want)
		}
	}
}
