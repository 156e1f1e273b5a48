package plantest_test

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

func TestEveryStatementFollowsAnIndexOnPostgres(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	w, p := r.filled(t, worldtest.Postgres(t))
	if bypasses, err := w.Store.BypassesRowSecurity(t.Context()); bypasses || err != nil {
		t.Fatalf("the role must be held by row-level security: %t, %v", bypasses, err)
	}
	// With statistics while the statements are collected: without them one may take longer than the store allows, if the
	// machine has other work.
	db := loader(t, w)
	execute(t, db, "ANALYZE")
	sent := everyStatement(t, w, p, r)
	for _, statistics := range []bool{false, true} {
		if statistics {
			execute(t, db, "ANALYZE")
		} else {
			execute(t, db, `DELETE FROM pg_statistic WHERE starelid >= 16384`) // of tables that are not the system's
			execute(t, db, `UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid >= 16384 AND relkind IN ('r', 'i')`)
		}
		for _, isolation := range []string{"filter", "strict"} {
			for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
				for i, p := range explain(t, w, w.Acme, isolation, mode, sent) {
					if found := p.faults(sent[i], statistics); len(found) > 0 {
						t.Errorf("%s: %s, %s, %s, statistics %t:\n%s\n%s", sent[i].of, strings.Join(found, "; "), isolation, mode, statistics, sent[i].Text, p)
					}
					// Without statistics the other indexes that fit may each be read to the end.
					if sent[i].claims() && !statistics && !p.follows("deployment_pending") {
						t.Errorf("%s, %s: a claim does not follow the index of what is PENDING:\n%s\n%s", isolation, mode, sent[i].Text, p)
					}
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
	explainAll := func(ctx context.Context, tx *ent.Tx) error {
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
			if s.overAll && isolation != "filter" {
				continue // it sets that by itself
			}
			if err := explainOne(ctx, tx, s, &plans[i]); err != nil {
				return fmt.Errorf("%s: %w", s.Text, err)
			}
		}
		return nil
	}

	// On a machine that has other work, a statement without statistics may take longer than the store waits for any.
	const tries = 5
	var err error
	for range tries {
		if err = w.Store.Tx(o.As(actor.Viewer), never, explainAll); !fault.Is(err, fault.ServerUnavailable) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

func explainOne(ctx context.Context, tx *ent.Tx, s statement, p *plan) error {
	args := make([]string, len(s.Args))
	for i, arg := range s.Args {
		var err error
		if args[i], err = literal(arg); err != nil {
			return err
		}
	}
	call := " EXECUTE sent"
	if len(args) > 0 {
		call += "(" + strings.Join(args, ", ") + ")"
	}
	err := explainAs(ctx, tx, s.Text, "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)"+call, p)
	if pq.As(err, pqerror.UniqueViolation) != nil { // it has been carried out before
		err = explainAs(ctx, tx, s.Text, "EXPLAIN (FORMAT JSON)"+call, p)
	}
	return err
}

// explainAs reads the plan that a call of a prepared statement returns. One that writes is carried out, too, and undone.
func explainAs(ctx context.Context, tx *ent.Tx, text, call string, p *plan) (err error) {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT explained"); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "PREPARE sent AS "+text); err != nil {
		return err
	}
	defer func() {
		_, end := tx.ExecContext(ctx, "ROLLBACK TO explained")
		if end == nil {
			_, end = tx.ExecContext(ctx, "DEALLOCATE sent")
		}
		err = errors.Join(err, end)
	}()
	rows, err := tx.QueryContext(ctx, call)
	if err != nil {
		return err
	}
	defer rows.Close()
	var answer []byte
	for rows.Next() {
		if err := rows.Scan(&answer); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	var explained []struct{ Plan plan }
	if err := json.Unmarshal(answer, &explained); err != nil {
		return err
	}
	*p = explained[0].Plan
	return nil
}

func literal(arg any) (string, error) {
	if v, ok := arg.(driver.Valuer); ok {
		var err error
		if arg, err = v.Value(); err != nil {
			return "", err
		}
	}
	switch v := arg.(type) {
	case nil:
		return "NULL", nil
	case time.Time:
		return pq.QuoteLiteral(v.Format(time.RFC3339Nano)), nil
	case []byte:
		return pq.QuoteLiteral(string(v)), nil
	case json.RawMessage:
		return pq.QuoteLiteral(string(v)), nil
	}
	return pq.QuoteLiteral(fmt.Sprint(arg)), nil
}
