package deployment_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// TestAnEventReadsAsManyRowsHoweverLongTheHistory compares what events of all kinds take after 20 deployments of the service with
// what they take after 220.
func TestAnEventReadsAsManyRowsHoweverLongTheHistory(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b := w.Fixture(t, w.Acme, "web"), newBus(w, "rows-read")
		_, source, _ := b.instance(t, p, "web", false)
		grow := func(from, to int) {
			for k := from; k < to; k++ {
				begun := time.Duration(k+1) * 8 * time.Minute
				if k%20 == 0 {
					b.carryOut(t, source, begun-time.Second)
				}
				id := fmt.Sprintf("ecs-svc/%d", k)
				b.receive(t, stateOf(b.service("web"), begun, "IN_PROGRESS", id, ""), stateOf(b.service("web"), begun+2*time.Minute, "COMPLETED", id, ""))
			}
		}
		// What comes late is in the middle, and what is new at the end.
		cost := func(run, middle, end int) (of []int) {
			late, now := time.Duration(middle)*8*time.Minute+5*time.Minute, time.Duration(end+1)*8*time.Minute+5*time.Minute
			for _, at := range []time.Duration{late, now} {
				id := fmt.Sprintf("ecs-svc/%d-%s", run, at)
				for _, text := range []string{
					action(b.service("web"), at-time.Minute, fmt.Sprint("ACTION_", run), ""), stateOf(b.service("web"), at+time.Minute, "COMPLETED", id, ""),
					stateOf(b.service("web"), at, "IN_PROGRESS", id, ""), action(b.service("web"), at+30*time.Second, fmt.Sprint("ACTION_", run), ""),
				} {
					of = append(of, rowsRead(t, w, w.Recorded(func() { b.receive(t, text) })))
				}
			}
			return of
		}
		grow(0, 20)
		few := cost(1, 10, 20)
		grow(21, 220)
		many := cost(2, 110, 220)
		if len(few) != len(many) {
			t.Fatalf("%v, then %v", few, many)
		}
		for i := range few {
			if many[i] > few[i]+few[i]/4+8 {
				t.Errorf("event %d reads %d rows, and %d where the service has ten times as many deployments", i, few[i], many[i])
			}
		}
		t.Logf("rows read by each event: %v, then %v", few, many)
	})
}

// most is how many rows a statement may read without being logged.
const most = 40

var (
	ofTables = regexp.MustCompile(`^SELECT .* FROM ["` + "`" + `](deployments|cloud_events|cloud_services)`)
	scan     = regexp.MustCompile(`\bSCAN (\w+)|USE TEMP B-TREE`)
)

// rowsRead returns how many rows the statements of an event read of the tables that grow with history: on PostgreSQL as it
// counts them, on SQLite those that the statements return, which all have to follow an index that has the service.
func rowsRead(t *testing.T, w *worldtest.World, sent []worldtest.Statement) (rows int) {
	t.Helper()
	sent = slices.DeleteFunc(sent, func(s worldtest.Statement) bool { return !ofTables.MatchString(strings.ReplaceAll(s.Text, "\n", " ")) })
	if !w.Store.Postgres() {
		for _, s := range sent {
			rows += returned(t, w, s)
		}
		return rows
	}
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), "ANALYZE deployments, cloud_events, cloud_services"); err != nil {
		t.Fatal(err)
	}
	err := w.Store.Tx(w.Acme.As(actor.Runner), never, func(ctx context.Context, tx *ent.Tx) error {
		rows = 0
		if _, err := tx.ExecContext(ctx, "SET LOCAL enable_seqscan = off"); err != nil {
			return err
		}
		for _, s := range sent {
			n, err := explained(ctx, tx, s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Text, err)
			}
			rows += n
			if n > most {
				t.Logf("%d rows: %s %v", n, s.Text, s.Args)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func returned(t *testing.T, w *worldtest.World, s worldtest.Statement) (n int) {
	t.Helper()
	for _, text := range []string{"EXPLAIN QUERY PLAN " + s.Text, "SELECT count(*) FROM (" + s.Text + ")"} {
		found, err := w.Raw(t, w.Acme).QueryContext(t.Context(), text, s.Args...)
		if err != nil {
			t.Fatal(err)
		}
		for found.Next() {
			if strings.HasPrefix(text, "SELECT") {
				err = found.Scan(&n)
			} else {
				var id, parent, unused int
				var step string
				if err = found.Scan(&id, &parent, &unused, &step); scan.MatchString(step) && !strings.Contains(s.Text, "deployment_id") {
					t.Errorf("%s: %s", step, s.Text)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// node is a step of a plan of PostgreSQL.
type node struct {
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Loops    float64 `json:"Actual Loops"`
	Plans    []node
}

func (n node) read() (rows int) {
	if n.Relation != "" {
		rows = int((n.Rows + n.Removed) * n.Loops)
	}
	for _, below := range n.Plans {
		rows += below.read()
	}
	return rows
}

func explained(ctx context.Context, tx *ent.Tx, s worldtest.Statement) (int, error) {
	text := s.Text
	for i := len(s.Args); i > 0; i-- {
		literal := pq.QuoteLiteral(fmt.Sprint(s.Args[i-1]))
		if at, ok := s.Args[i-1].(time.Time); ok {
			literal = pq.QuoteLiteral(at.Format(time.RFC3339Nano))
		}
		text = strings.ReplaceAll(text, fmt.Sprint("$", i), literal)
	}
	found, err := tx.QueryContext(ctx, "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "+text)
	if err != nil {
		return 0, err
	}
	defer found.Close()
	var plan []byte
	for found.Next() {
		if err := found.Scan(&plan); err != nil {
			return 0, err
		}
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal(plan, &plans); err != nil {
		return 0, err
	}
	return plans[0].Plan.read(), found.Err()
}
