package migrate_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pressly/goose/v3"

	entmigrate "slipway/ent/migrate"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
	"slipway/internal/server"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/pgtest"
)

// eachEmpty runs a test against an empty database of each kind.
func eachEmpty(t *testing.T, test func(t *testing.T, url string, files int)) {
	t.Helper()
	for kind, open := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "slipway.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			files, err := fs.Glob(entmigrate.Files, kind+"/*.sql")
			if err != nil || len(files) == 0 {
				t.Fatalf("%d migrations, %v", len(files), err)
			}
			test(t, open(t), len(files))
		})
	}
}

func TestMigrateBringsAnEmptyDatabaseUpToDate(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string, files int) {
		ctx := t.Context()
		if n, err := migrate.Pending(ctx, url); n != files || err != nil {
			t.Errorf("before: %d pending, %v, want %d", n, err, files)
		}
		if n, err := migrate.Up(ctx, url); n != files || err != nil {
			t.Fatalf("%d applied, %v, want %d", n, err, files)
		}
		if n, err := migrate.Pending(ctx, url); n != 0 || err != nil {
			t.Errorf("after: %d pending, %v", n, err)
		}
		if n, err := migrate.Up(ctx, url); n != 0 || err != nil {
			t.Errorf("again: %d applied, %v", n, err)
		}
		list, err := migrate.List(ctx, url)
		if err != nil || len(list) != files {
			t.Fatalf("%v, %v", list, err)
		}
		for _, m := range list {
			if !m.Applied || m.Version == 0 || !strings.HasSuffix(m.Name, ".sql") {
				t.Errorf("%+v", m)
			}
		}
	})
}

func TestEightThatMigrateAtOnceApplyEachMigrationOnce(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string, files int) {
		var applied atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				n, err := migrate.Up(t.Context(), url)
				if err != nil {
					t.Error(err)
				}
				applied.Add(int64(n))
			})
		}
		all.Wait()
		if applied.Load() != int64(files) {
			t.Errorf("%d applied, want %d", applied.Load(), files)
		}
	})
}

func TestDatabaseOfANewerVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string, _ int) {
		if _, err := migrate.Up(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		execute(t, url, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (29991231235959, true)`)
		if _, err := migrate.Up(t.Context(), url); !errors.Is(err, migrate.ErrNewer) {
			t.Errorf("migrate: %v", err)
		}
		if _, err := migrate.Pending(t.Context(), url); !errors.Is(err, migrate.ErrNewer) {
			t.Errorf("pending: %v", err)
		}
	})
}

func TestMigrationThatFailsLeavesTheDatabaseAsItWas(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string, files int) {
		if _, err := migrate.List(t.Context(), url); err != nil { // which makes the table of versions
			t.Fatal(err)
		}
		execute(t, url, `CREATE TABLE migration_compatibility (version_id bigint PRIMARY KEY, compatible_with bigint NOT NULL)`)
		// One of the last tables that the first migration makes is in its way.
		execute(t, url, `CREATE TABLE tokens (id integer)`)
		_, err := migrate.Up(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), "cannot migrate the database") {
			t.Fatalf("%v", err)
		}
		if n, err := migrate.Pending(t.Context(), url); n != files || err != nil {
			t.Errorf("%d pending, %v, want %d", n, err, files)
		}
		execute(t, url, `DROP TABLE tokens`)
		if n, err := migrate.Up(t.Context(), url); n != files || err != nil {
			t.Errorf("when nothing is in the way: %d applied, %v, want %d", n, err, files)
		}
	})
}

// ran is what a database had before claims were numbered: one deployment that runs, and its like that has ended.
const ran = `
INSERT INTO organizations (id, created_at, updated_at, name, slug) VALUES ('org_1', '2026-01-01', '2026-01-01', 'o', 'o');
INSERT INTO projects (id, created_at, updated_at, name, slug, organization_id) VALUES ('prj_1', '2026-01-01', '2026-01-01', 'p', 'p', 'org_1');
INSERT INTO environments (id, created_at, updated_at, name, slug, organization_id, project_id) VALUES ('env_1', '2026-01-01', '2026-01-01', 'e', 'e', 'org_1', 'prj_1');
INSERT INTO module_definitions (id, created_at, updated_at, name, type, search_text, status, organization_id) VALUES ('mod_1', '2026-01-01', '2026-01-01', 'm', 'm', 'm', 'ACTIVE', 'org_1');
INSERT INTO module_instances (id, created_at, updated_at, name, organization_id, project_id, environment_id, module_definition_id) VALUES ('inst_1', '2026-01-01', '2026-01-01', 'i', 'org_1', 'prj_1', 'env_1', 'mod_1');
INSERT INTO deployments (id, created_at, updated_at, organization_id, project_id, environment_id, module_instance_id, deployment_type, trigger_source, created_by,
	status, runner, lease_id, lease_expires_at, started_at, completed_at, version) VALUES
	('dep_01m80r51pbfd5vsv1w7y82fpsy', '2026-01-01', '2026-01-01', 'org_1', 'prj_1', 'env_1', 'inst_1', 'terraform', 'api', 'ci',
	 'RUNNING', 'r', 'lease_of_before', '2026-01-01 00:05:00+00:00', '2026-01-01', NULL, 2),
	('dep_01m80r5278fe18ncmhgnffjme5', '2026-01-01', '2026-01-01', 'org_1', 'prj_1', 'env_1', 'inst_1', 'terraform', 'api', 'ci',
	 'FAILED', 'r', 'lease_that_ended', NULL, '2026-01-01', '2026-01-01', 3);`

// live is a deployment that is live, whose data has a service.
const live = `
INSERT INTO deployments (id, created_at, updated_at, organization_id, project_id, environment_id, module_instance_id, deployment_type, trigger_source, created_by,
	status, started_at, completed_at, version, data) VALUES
	('dep_01m80r52a0e5kz7r0p3v4w9x1y', '2026-01-01', '2026-01-01', 'org_1', 'prj_1', 'env_1', 'inst_1', 'aws:ecs', 'api', 'ci',
	 'SUCCEEDED', '2026-01-01', '2026-01-01', 3, '{"type":"aws:ecs","serviceArn":"arn:aws:ecs:eu-west-1:123456789012:service/main/web"}');
UPDATE module_instances SET live_deployment_id = 'dep_01m80r52a0e5kz7r0p3v4w9x1y';`

func TestTheServicesOfWhatIsLiveAreKnownAfterTheMigration(t *testing.T) {
	t.Parallel()
	const before = 20261122080000
	eachEmpty(t, func(t *testing.T, url string, _ int) {
		migrateTo(t, url, before)
		statement := ran + live
		if !strings.HasPrefix(url, "sqlite:") {
			statement = `SELECT set_config('app.org_id', 'org_1', false);` + statement
		}
		execute(t, url, statement)
		if _, err := migrate.Up(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		d, err := s.Client.Deployment.Get(actor.With(t.Context(), &actor.Actor{Role: actor.Viewer, OrganizationID: "org_1"}), "dep_01m80r52a0e5kz7r0p3v4w9x1y")
		if err != nil || d.ServiceArn == nil || *d.ServiceArn != "arn:aws:ecs:eu-west-1:123456789012:service/main/web" {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

func TestWhatRunsWhenADatabaseIsMigratedGoesOn(t *testing.T) {
	t.Parallel()
	const before = 20261122012914 // the last migration of the version before
	eachEmpty(t, func(t *testing.T, url string, _ int) {
		migrateTo(t, url, before)
		statement := ran
		if !strings.HasPrefix(url, "sqlite:") {
			statement = `SELECT set_config('app.org_id', 'org_1', false);` + ran
		}
		execute(t, url, statement)
		if _, err := migrate.Up(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		api := server.New(s, server.Config{Log: slog.New(slog.DiscardHandler)})
		runner := actor.With(t.Context(), &actor.Actor{ID: "tok_1", Name: "r", Role: actor.Runner, OrganizationID: "org_1"})
		const id, lease = "dep_01m80r51pbfd5vsv1w7y82fpsy", "lease_of_before"
		// Its lease ran out while the servers were being upgraded.
		if n, err := api.Services.Deploy.Execution.ExpireLeases(t.Context()); n != 0 || err != nil {
			t.Errorf("%d leases were expired, %v", n, err)
		}
		d, l, err := api.Services.Deploy.Execution.RenewLease(runner, id, lease)
		if err != nil || d.Status != "RUNNING" || l.Fence != "0" || l.CancelSeconds != nil {
			t.Errorf("renewed: %v under %+v, %v", d, l, err)
		}
		if done, err := api.Services.Deploy.Execution.End(runner, id, lease, execution.Completion{}); err != nil || done.Status != "SUCCEEDED" {
			t.Errorf("completed: %v, %v", done, err)
		}
	})
}

// migrateTo applies the migrations up to a version, as a program of that version does.
func migrateTo(t *testing.T, url string, version int64) {
	t.Helper()
	driver, dialect, folder := "postgres", goose.DialectPostgres, "postgres"
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, dialect, folder, url = "sqlite", goose.DialectSQLite3, "sqlite", path
	}
	files, err := fs.Sub(entmigrate.Files, folder)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	provider, err := goose.NewProvider(dialect, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, url, statement string) {
	t.Helper()
	driver := "postgres"
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, url = "sqlite", path
	}
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
