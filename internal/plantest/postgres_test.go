package plantest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"slipway/ent"
	"slipway/internal/actor"
	"slipway/internal/worldtest"
)

func TestListsFollowAnIndexOnPostgres(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	fill(t, w, 50_000)
	if bypasses, err := w.Store.BypassesRowSecurity(t.Context()); bypasses || err != nil {
		t.Fatalf("the role must be held by row-level security: %t, %v", bypasses, err)
	}
	sent := append(statements(t, w, w.Acme), claim(t, w, w.Acme))
	for _, isolation := range []string{"filter", "strict"} {
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			for i, p := range explain(t, w, w.Acme, isolation, mode, sent) {
				if found := p.faults(sent[i].counts()); len(found) > 0 {
					t.Errorf("%s: %s, %s, %s:\n%s\n%s", sent[i].list, strings.Join(found, "; "), isolation, mode, sent[i].Text, p)
				}
			}
		}
	}
}

// explain carries statements out, in a session of the store's own, and returns their plans.
func explain(t *testing.T, w *worldtest.World, o *worldtest.Org, isolation, mode string, sent []statement) []plan {
	t.Helper()
	var plans []plan
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	err := w.Store.Tx(o.As(actor.Viewer), never, func(ctx context.Context, tx *ent.Tx) error {
		for setting, value := range map[string]string{
			"app.isolation": isolation, "plan_cache_mode": mode, "statement_timeout": "0",
			// A little more than the store sets, so that no plan is the best by a hair.
			"random_page_cost": "1.05",
		} {
			if _, err := tx.ExecContext(ctx, fmt.Sprintf("SET LOCAL %s = '%s'", setting, value)); err != nil {
				return err
			}
		}
		plans = make([]plan, len(sent))
		for i, s := range sent {
			if err := explainOne(ctx, tx, s, &plans[i]); err != nil {
				return fmt.Errorf("%s: %w", s.Text, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

func explainOne(ctx context.Context, tx *ent.Tx, s statement, p *plan) error {
	// A statement that writes is carried out, too, and undone.
	if _, err := tx.ExecContext(ctx, "SAVEPOINT explained; PREPARE sent AS "+s.Text); err != nil {
		return err
	}
	args := make([]string, len(s.Args))
	for i, arg := range s.Args {
		args[i] = literal(arg)
	}
	call := "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE sent"
	if len(args) > 0 {
		call += "(" + strings.Join(args, ", ") + ")"
	}
	rows, err := tx.QueryContext(ctx, call)
	if err != nil {
		return err
	}
	defer rows.Close()
	var text []byte
	for rows.Next() {
		if err := rows.Scan(&text); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	var explained []struct{ Plan plan }
	if err := json.Unmarshal(text, &explained); err != nil {
		return err
	}
	*p = explained[0].Plan
	_, err = tx.ExecContext(ctx, "ROLLBACK TO explained; DEALLOCATE sent")
	return err
}

func literal(arg any) string {
	if at, ok := arg.(time.Time); ok {
		return pq.QuoteLiteral(at.Format(time.RFC3339Nano))
	}
	return pq.QuoteLiteral(fmt.Sprint(arg))
}
