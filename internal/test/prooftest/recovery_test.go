package prooftest_test

import (
	"context"
	"database/sql"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/data/store/migrate"
	"slipway/internal/test/pgtest/cluster"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestBackupOfPostgresHasWhatWasAcknowledgedByDumpAndAtAnyPointInTime(t *testing.T) {
	t.Parallel()
	bin, err := cluster.Find(cluster.Packages)
	if err != nil {
		t.Skip(err)
	}
	begun := time.Now()
	c, err := cluster.Start(bin, append(durable, "archive_mode=on",
		"archive_command=mkdir -p ../archive && test ! -f ../archive/%f && cp %p ../archive/%f.partial && mv ../archive/%f.partial ../archive/%f")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	w := archived(t, c)
	clients := newRollers(t, w, 8)
	mustRun(t, c.Command("pg_basebackup", "--dbname="+c.URL, "--pgdata=base", "--wal-method=stream", "--checkpoint=fast"))

	under := begin(t, clients, w.URL)
	under.proceed(testkit.Often(20, 200))
	dumped := known(clients)
	mustRun(t, c.Command("pg_dump", "--dbname="+as(t, c.URL, "slipway_backup", "slipway"), "--format=custom", "--file=slipway.dump"))
	under.proceed(testkit.Often(20, 200))
	before := known(clients)
	moment := now(t, c)
	under.proceed(testkit.Often(20, 200))
	awaitArchive(t, c)
	under.proceed(testkit.Often(20, 200))
	under.finish()
	inDump := restoredDump(t, c, w, dumped)
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}

	// The last of the log was never archived; the killed cluster has it.
	found := recovered(t, c, w, "all", true, clients)
	// The archive alone has the moment.
	then := recovered(t, c, w, "then", false, before, "recovery_target_time="+moment, "recovery_target_action=promote")
	if then >= found {
		t.Errorf("%d rollbacks at the moment, and %d in all", then, found)
	}
	proved.note(t, begun, "%d rollbacks in a dump under load, %d at a moment, %d after kill -9 of the cluster, %d of them acknowledged: nothing missing",
		inDump, then, found, acknowledgements(clients))
}

// durable are the settings of a cluster that loses nothing.
var durable = []string{"fsync=on", "synchronous_commit=on", "full_page_writes=on"}

// archived makes the roles and the database of the guide, and a world on it.
func archived(t *testing.T, c *cluster.Cluster) *worldtest.World {
	t.Helper()
	for _, statement := range []string{
		"CREATE ROLE slipway LOGIN NOSUPERUSER NOBYPASSRLS",
		"CREATE DATABASE slipway OWNER slipway",
		"CREATE ROLE slipway_backup LOGIN BYPASSRLS",
		"GRANT pg_read_all_data TO slipway_backup",
		"ALTER ROLE slipway_backup SET default_transaction_read_only = on",
	} {
		execute(t, c.URL, statement)
	}
	database := as(t, c.URL, "slipway", "slipway")
	if _, err := migrate.Up(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	return worldtest.New(t, database)
}

// as is the URL of a database of a cluster as a role.
func as(t *testing.T, cluster, role, database string) string {
	t.Helper()
	u, err := url.Parse(cluster)
	if err != nil {
		t.Fatal(err)
	}
	u.User, u.Path = url.User(role), "/"+database
	return u.String()
}

func execute(t *testing.T, database, statement string) {
	t.Helper()
	db := opened(t, database)
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	_ = db.Close()
}

func opened(t *testing.T, database string) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// now is the time of a cluster.
func now(t *testing.T, c *cluster.Cluster) (text string) {
	t.Helper()
	if err := opened(t, c.URL).QueryRowContext(t.Context(), "SELECT clock_timestamp()::text").Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// awaitArchive waits until the archive has all that was written up to now.
func awaitArchive(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	db := opened(t, c.URL)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var last string
	if err := db.QueryRowContext(ctx, "SELECT pg_walfile_name(pg_switch_wal())").Scan(&last); err != nil {
		t.Fatal(err)
	}
	for archived := false; !archived; {
		err := db.QueryRowContext(ctx, "SELECT coalesce(last_archived_wal, '') >= $1 FROM pg_stat_archiver", last).Scan(&archived)
		if err != nil {
			t.Fatal(err)
		}
	}
}

func mustRun(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(c.Args, " "), err, out)
	}
}

// restoredDump restores the dump into a database of its own, as the guide has it, and returns how many
// rollbacks it has. A server on it goes on.
func restoredDump(t *testing.T, c *cluster.Cluster, w *worldtest.World, acknowledged []*roller) int {
	t.Helper()
	execute(t, c.URL, "CREATE DATABASE slipway_restored OWNER slipway")
	restored := *w
	restored.DatabaseURL = as(t, c.URL, "slipway", "slipway_restored")
	mustRun(t, c.Command("pg_restore", "--dbname="+restored.DatabaseURL, "--no-owner", "--exit-on-error", "slipway.dump"))
	found := whole(t, &restored, acknowledged)
	execute(t, restored.DatabaseURL, "TRUNCATE deployment_changes")
	serves(t, &restored)
	return found
}

// recovered starts the cluster on a copy of the base backup, with what the killed one had not archived or
// without, waits for the end of the recovery and returns how many rollbacks there are.
func recovered(t *testing.T, c *cluster.Cluster, w *worldtest.World, name string, unarchived bool, acknowledged []*roller, settings ...string) int {
	t.Helper()
	mustRun(t, c.Command("cp", "-a", "base", name))
	if unarchived {
		mustRun(t, c.Command("rm", "-rf", name+"/pg_wal"))
		mustRun(t, c.Command("cp", "-a", "data/pg_wal", name+"/pg_wal"))
	}
	mustRun(t, c.Command("touch", filepath.Join(name, "recovery.signal")))
	settings = append(settings, "restore_command=cp ../archive/%f %p")
	if err := c.Resume(name, append(settings, durable...)...); err != nil {
		t.Fatal(err)
	}
	db := opened(t, c.URL)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for recovering := true; recovering; {
		if err := db.QueryRowContext(ctx, "SELECT pg_is_in_recovery()").Scan(&recovering); err != nil {
			t.Fatal(err)
		}
	}
	again := *w
	again.DatabaseURL = as(t, c.URL, "slipway", "slipway")
	found := whole(t, &again, acknowledged)
	serves(t, &again)
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	return found
}

// serves wants a server on a restored database to carry a rollback out.
func serves(t *testing.T, w *worldtest.World) {
	t.Helper()
	server := worldtest.Another(t, w.DatabaseURL)
	source := server.Store.Client.Deployment.Query().Where(deployment.StatusEQ(deployment.StatusSUCCEEDED)).FirstX(w.Acme.As(actor.Viewer)).ID
	caller := newClient(t, w.Acme.Tokens[actor.Developer], 1)
	a, err := caller.send(t.Context(), server.URL, request{source: source})
	if err == nil && a.blocker != "" { // one was under way
		if a, err = caller.send(t.Context(), server.URL, request{cancel: a.blocker}); err == nil {
			a, err = caller.send(t.Context(), server.URL, request{source: source})
		}
	}
	if err != nil || a.status >= http.StatusBadRequest {
		t.Errorf("%v: answered %d: %s", err, a.status, a.body)
	}
	_ = server.Store.Close()
}
