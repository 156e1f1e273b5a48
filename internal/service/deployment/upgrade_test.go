package deployment_test

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	entdeployment "slipway/ent/deployment"
	entmigrate "slipway/ent/migrate"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

// statementsOf returns the statements of the migrations of PostgreSQL that name an index.
func statementsOf(t *testing.T, index string) (statements []string) {
	t.Helper()
	files, err := fs.Glob(entmigrate.Files, "postgres/*_release_control.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(entmigrate.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, `"`+index+`"`) {
				statements = append(statements, strings.TrimSpace(line))
			}
		}
	}
	return statements
}

// While PostgreSQL gets the index of what is in progress in the place of the one before, deployments go on being created, and
// no instance ever has two.
func TestTheIndexOfWhatIsInProgressIsReplacedUnderCreations(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	p := w.Fixture(t, w.Acme, "web")
	db, err := sql.Open("postgres", w.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	run := func(statement string) {
		t.Helper()
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	// As it was before.
	run(`CREATE UNIQUE INDEX "deployment_active_instance" ON "deployments" ("organization_id", "module_instance_id") WHERE completed_at IS NULL AND trigger_source <> 'event'`)
	run(`DROP INDEX "deployment_in_progress"`)
	var instances []string
	for i := range 3 {
		instances = append(instances, p.NewInstance(t, fmt.Sprint("busy-", i)).ID)
	}
	ctx, stop := context.WithCancel(w.Acme.As(actor.Developer))
	var made, blocked atomic.Int64
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				in := newOf(w, p, "web:1")
				in.InstanceID, in.Data = instances[n%len(instances)], nil
				d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), in)
				switch {
				case fault.Is(err, fault.DeploymentInProgress):
					blocked.Add(1)
					continue
				case err != nil:
					t.Error(err)
					return
				}
				made.Add(1)
				if n := w.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(in.InstanceID), store.IsInProgress).CountX(w.Acme.As(actor.Viewer)); n > 1 {
					t.Errorf("%d deployments of %s are in progress", n, in.InstanceID)
				}
				if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for round := 0; round < 3 || made.Load() < 10 && round < 50; round++ { // each unique index would not be made over two
		for _, statement := range append(statementsOf(t, "deployment_in_progress"), statementsOf(t, "deployment_active_instance")...) {
			if !strings.HasPrefix(statement, "--") {
				run(statement)
			}
		}
		run(`CREATE UNIQUE INDEX CONCURRENTLY "deployment_active_instance" ON "deployments" ("organization_id", "module_instance_id") WHERE completed_at IS NULL AND trigger_source <> 'event'`)
		run(`DROP INDEX "deployment_in_progress"`)
	}
	stop()
	all.Wait()
	t.Logf("%d made, %d blocked", made.Load(), blocked.Load())
	if made.Load() == 0 {
		t.Error("nothing was made meanwhile")
	}
}
