package retention_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/service/retention"
	"slipway/internal/test/worldtest"
)

// audited writes rows of the audit, one for each time, by somebody or, where by is nil, by a superadmin without an
// organization, and returns their ids.
func audited(t *testing.T, w *worldtest.World, o *worldtest.Org, times ...time.Time) (ids []string) {
	t.Helper()
	ctx, organization := actor.WithServer(t.Context(), ""), store.GlobalScope
	if o != nil {
		ctx, organization = o.As(actor.Admin), o.ID
	}
	rows := make([]*ent.AuditEventCreate, len(times))
	err := w.Store.Tx(ctx, store.Repeatable, func(ctx context.Context, tx *ent.Tx) error {
		for i, at := range times {
			ids = append(ids, id.New(id.AuditEvent))
			rows[i] = tx.AuditEvent.Create().SetID(ids[i]).SetOrganizationID(organization).SetCreatedAt(at).SetActorID("tok_1").
				SetActorName("somebody").SetActorRole("admin").SetChannel("graphql").SetAction("createProject").SetObjectID("prj_1").
				SetRequestID("req_1").SetChanges(json.RawMessage(`{"name":"<a & b>"}`))
		}
		return tx.AuditEvent.CreateBulk(rows...).Exec(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// archived returns the lines of the files of an archive by their names.
func archived(t *testing.T, folder string) map[string][]map[string]any {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]map[string]any{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil || !strings.HasSuffix(line, "\n") {
				t.Fatalf("%s has the line %q: %v", f.Name(), line, err)
			}
			found[f.Name()] = append(found[f.Name()], row)
		}
	}
	return found
}

func idsOf(rows []map[string]any) (ids []string) {
	for _, row := range rows {
		ids = append(ids, fmt.Sprint(row["id"]))
	}
	return ids
}

// keeping returns what moves the audit of before 48 hours to a folder.
func keeping(t *testing.T, w *worldtest.World, now time.Time, folder string) *retention.Service {
	t.Helper()
	house := w.RetentionAt(now)
	house.Keep.Audit = 48 * time.Hour
	var err error
	if house.Keep.Archive, err = retention.OpenArchive(folder); err != nil {
		t.Fatal(err)
	}
	return house
}

func TestTheAuditMovesToItsArchiveWhole(t *testing.T) {
	t.Parallel()
	eachIsolation(t, func(t *testing.T, w *worldtest.World) {
		now := time.Date(2126, 3, 2, 12, 0, 0, 123456000, time.UTC) // after all that the making of the world has left
		limit, folder := now.Add(-48*time.Hour), t.TempDir()
		times := slices.Repeat([]time.Time{limit}, 201) // one more than two steps
		times[0] = time.Date(2126, 1, 31, 23, 59, 59, 999999000, time.UTC)
		times[1] = time.Date(2126, 2, 1, 0, 0, 0, 0, time.UTC)
		before := map[string]int{}
		for _, o := range []*worldtest.Org{w.Acme, w.Globex} {
			before[o.ID] = w.Store.Client.AuditEvent.Query().CountX(o.As(actor.Admin))
		}
		globally := w.Store.Client.AuditEvent.Query().CountX(actor.WithServer(t.Context(), ""))
		acme := audited(t, w, w.Acme, times...)
		globex, everybody := audited(t, w, w.Globex, limit), audited(t, w, nil, limit)
		kept := audited(t, w, w.Acme, limit.Add(time.Microsecond))

		house := keeping(t, w, now, folder)
		if n, err := house.Purge(t.Context()); n < 203+before[w.Acme.ID]+before[w.Globex.ID]+globally || err != nil {
			t.Errorf("%d rows moved, %v", n, err)
		}
		if left := w.Store.Client.AuditEvent.Query().IDsX(w.Acme.As(actor.Admin)); !slices.Equal(left, kept) {
			t.Errorf("left are %v, want %v", left, kept)
		}
		found := archived(t, folder)
		if rows := found["audit-2126-01.jsonl"]; len(rows) != 1 || rows[0]["id"] != acme[0] {
			t.Errorf("January has %v", rows)
		}
		want := append(slices.Sorted(slices.Values(acme[1:])), everybody[0], globex[0])
		slices.Sort(want)
		if got := slices.Sorted(slices.Values(idsOf(found["audit-2126-02.jsonl"]))); !slices.Equal(got, want) {
			t.Errorf("February has %d rows, want %d", len(got), len(want))
		}
		if diff := cmp.Diff(map[string]any{
			"id": acme[1], "organization_id": w.Acme.ID, "created_at": "2126-02-01T00:00:00Z", "actor_id": "tok_1", "actor_name": "somebody",
			"actor_role": "admin", "channel": "graphql", "action": "createProject", "object_id": "prj_1", "request_id": "req_1",
			"changes": map[string]any{"name": "<a & b>"},
		}, found["audit-2126-02.jsonl"][slices.Index(idsOf(found["audit-2126-02.jsonl"]), acme[1])]); diff != "" {
			t.Error(diff)
		}
		columns := slices.Sorted(maps.Keys(found["audit-2126-01.jsonl"][0]))
		if all := slices.Sorted(slices.Values(auditevent.Columns)); !slices.Equal(columns, all) {
			t.Errorf("a line has %v, the table %v", columns, all)
		}
		for name := range found {
			if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	})
}

func TestTheAuditStaysWhereItsArchiveFails(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		now, folder := time.Date(2126, 3, 2, 12, 0, 0, 0, time.UTC), filepath.Join(t.TempDir(), "audit")
		if _, err := retention.OpenArchive(folder); err == nil {
			t.Error("an archive is opened in no folder")
		}
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		house := keeping(t, w, now, folder)
		ids := audited(t, w, w.Acme, now.Add(-72*time.Hour), now.Add(-60*time.Hour))
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		before := w.Store.Client.AuditEvent.Query().CountX(w.Acme.As(actor.Admin))
		var told error
		house.Ended = func(err error) { told = err }
		if _, err := house.Purge(t.Context()); err == nil || told == nil || !strings.Contains(err.Error(), folder) {
			t.Errorf("%v, told %v, want an error that names %s", err, told, folder)
		}
		if after := w.Store.Client.AuditEvent.Query().CountX(w.Acme.As(actor.Admin)); after != before {
			t.Errorf("%d rows are left of %d", after, before)
		}
		// A server was killed while it wrote a line, and another before it removed one.
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, "audit-2126-02.jsonl")
		torn := `{"id":"aud_whole"}` + "\n" + `{"id":"aud_torn","changes":{"a":"` + strings.Repeat("x", 10_000)
		if err := os.WriteFile(file, []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := house.Purge(t.Context()); err != nil || told != nil {
			t.Fatal(err, told)
		}
		if got, want := idsOf(archived(t, folder)["audit-2126-02.jsonl"]), append([]string{"aud_whole"}, ids...); !slices.Equal(got, want) {
			t.Errorf("February has %v, want %v", got, want)
		}
	})
}

func TestNoRowIsRemovedBeforeItsArchiveIsOnTheDisk(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		now, folder := time.Date(2126, 3, 2, 12, 0, 0, 0, time.UTC), t.TempDir()
		house := keeping(t, w, now, folder)
		ids := audited(t, w, w.Acme, now.Add(-72*time.Hour), now.Add(-60*time.Hour))
		count := func() int { return w.Store.Client.AuditEvent.Query().CountX(w.Acme.As(actor.Admin)) }
		before, broken := count(), errors.New("the disk is broken")
		for name, isBroken := range map[string]func(fs.FileInfo) bool{
			"files": func(info fs.FileInfo) bool { return info.Mode().IsRegular() }, "folder": fs.FileInfo.IsDir,
		} {
			house.Keep.Archive.SyncWith(func(f *os.File) error {
				if info, err := f.Stat(); err != nil || isBroken(info) {
					return errors.Join(broken, err)
				}
				return f.Sync()
			})
			if _, err := house.Purge(t.Context()); !errors.Is(err, broken) {
				t.Errorf("%s: %v, want that the disk is broken", name, err)
			}
			if after := count(); after != before {
				t.Errorf("%s: %d rows are left of %d", name, after, before)
			}
			for file, rows := range archived(t, folder) {
				if len(rows) > 0 {
					t.Errorf("%s: %s has %d rows that nothing vouches for", name, file, len(rows))
				}
			}
		}

		left := 0
		house.Keep.Archive.SyncWith(func(f *os.File) error {
			left = max(left, count())
			return f.Sync()
		})
		if _, err := house.Purge(t.Context()); err != nil || left != before {
			t.Errorf("%v, and %d rows of %d were there at a sync", err, left, before)
		}
		if got := idsOf(archived(t, folder)["audit-2126-02.jsonl"]); !slices.Equal(got, ids) {
			t.Errorf("February has %v, want %v", got, ids)
		}
	})
}
