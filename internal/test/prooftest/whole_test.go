package prooftest_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"slipway/internal/test/worldtest"
)

// rows are what the database has of rollbacks.
type rows struct {
	// versions are those of the deployments, changes those of their change rows.
	versions map[string]int
	changes  map[string][]int
	// requests are the ids of the requests of the rollbacks' audit rows; ends counts those of their ends.
	requests map[string][]string
	ends     map[string]int
	// keys are the deployments of the idempotency keys.
	keys map[string]string
}

// whole wants every rollback to be there with all that belongs to it or not at all, and everything that
// was acknowledged to be there. It gives how many there are.
func whole(t *testing.T, w *worldtest.World, clients []*roller) int {
	t.Helper()
	tx := snapshot(t, w)
	defer func() { _ = tx.Rollback() }()
	r := rowsOf(t, tx)
	for id, version := range r.versions {
		r.check(t, id, version)
	}
	for id := range r.requests {
		if r.versions[id] == 0 {
			t.Errorf("%s has an audit row and is not there", id)
		}
	}
	for key, id := range r.keys {
		if r.versions[id] == 0 {
			t.Errorf("%s has a key, %s, and is not there", id, key)
		}
	}
	for _, c := range clients {
		for request, id := range c.acknowledged {
			if !slices.Equal(r.requests[id], []string{request}) {
				t.Errorf("%s was acknowledged with %s, whose audit rows are of %q", request, id, r.requests[id])
			}
		}
	}
	return len(r.versions)
}

// snapshot returns a transaction that sees one state of the database, which is not damaged: a killed server's last COMMIT
// may still be under way.
func snapshot(t *testing.T, w *worldtest.World) *sql.Tx {
	t.Helper()
	db := w.Raw(t, w.Acme)
	if strings.HasPrefix(w.DatabaseURL, "sqlite:") {
		var found string
		if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&found); err != nil || found != "ok" {
			t.Errorf("integrity_check: %s, %v", found, err)
		}
	}
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// check wants one deployment to have all that belongs to it.
func (r *rows) check(t *testing.T, id string, version int) {
	t.Helper()
	slices.Sort(r.changes[id])
	for i, v := range r.changes[id] {
		if v != i+1 {
			t.Errorf("%s has the changes %v", id, r.changes[id])
		}
	}
	if len(r.changes[id]) != version || len(r.requests[id]) != 1 || r.ends[id] != version-1 {
		t.Errorf("%s has the version %d, %d changes, audit rows of %q and %d of its end",
			id, version, len(r.changes[id]), r.requests[id], r.ends[id])
		return
	}
	if request := r.requests[id][0]; strings.HasPrefix(request, "keyed") && r.keys[request] != id {
		t.Errorf("%s has no row of its key %s; that has %q", id, request, r.keys[request])
	}
}

func rowsOf(t *testing.T, tx *sql.Tx) *rows {
	t.Helper()
	r := &rows{
		versions: map[string]int{}, changes: map[string][]int{}, requests: map[string][]string{},
		ends: map[string]int{}, keys: map[string]string{},
	}
	var id, text string
	var n int
	each(t, tx, `SELECT id, version FROM deployments WHERE trigger_source = 'rollback'`, func() { r.versions[id] = n }, &id, &n)
	each(t, tx, `SELECT deployment_id, version FROM deployment_changes`, func() { r.changes[id] = append(r.changes[id], n) }, &id, &n)
	each(t, tx, `SELECT object_id, request_id FROM audit_events WHERE action = 'rollbackDeployment'`,
		func() { r.requests[id] = append(r.requests[id], text) }, &id, &text)
	each(t, tx, `SELECT object_id FROM audit_events WHERE action = 'cancelDeployment'`, func() { r.ends[id]++ }, &id)
	each(t, tx, `SELECT key, deployment_id FROM idempotency_keys`, func() { r.keys[text] = id }, &text, &id)
	return r
}

// each scans the rows of a query one after the other.
func each(t *testing.T, tx *sql.Tx, query string, take func(), columns ...any) {
	t.Helper()
	found, err := tx.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		if err := found.Scan(columns...); err != nil {
			t.Fatal(err)
		}
		take()
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
}
