package journal_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/lib/pq"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/test/worldtest"
)

var at = time.Date(2026, 3, 1, 9, 30, 0, 125_000_000, time.UTC)

func open(w *worldtest.World) *journal.Journal {
	return journal.New(w.Store, func() time.Time { return at }, id.New)
}

// create writes a project.
func create(ctx context.Context, tx *ent.Tx, e *journal.Entry, projectID, organizationID string) error {
	e.ObjectID, e.Changes = projectID, map[string]string{"name": "Web"}
	return tx.Project.Create().SetID(projectID).SetOrganizationID(organizationID).
		SetCreatedAt(e.At).SetUpdatedAt(e.At).SetName("Web").SetSlug(projectID).Exec(ctx)
}

func TestWriteLeavesOneAuditRowHoweverOftenItRan(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := actor.WithRequestID(w.Acme.As(actor.Admin), "req_1")
		projectID, runs := id.New(id.Project), 0
		err := open(w).Write(ctx, "createProject", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			if err := create(ctx, tx, e, projectID, w.Acme.ID); err != nil {
				return err
			}
			if runs++; runs < 3 {
				return &pq.Error{Code: "40001"}
			}
			return nil
		})
		if err != nil || runs != 3 {
			t.Fatalf("%d runs, %v", runs, err)
		}
		got := w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(projectID)).AllX(ctx)
		who := actor.From(ctx)
		want := []*ent.AuditEvent{{
			OrganizationID: w.Acme.ID, CreatedAt: at, ActorID: who.ID, ActorName: "admin", ActorRole: "admin", Channel: "graphql",
			Action: "createProject", ObjectID: projectID, RequestID: "req_1", Changes: []byte(`{"name":"Web"}`),
		}}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(ent.AuditEvent{}), cmpopts.IgnoreFields(ent.AuditEvent{}, "ID")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWriteAndItsAuditRowComeTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		boom := errors.New("boom")
		ctx := w.Acme.As(actor.Admin)
		before := w.Rows(t)
		err := open(w).Write(ctx, "createProject", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			if err := create(ctx, tx, e, id.New(id.Project), w.Acme.ID); err != nil {
				t.Error(err)
			}
			return boom
		})
		if !errors.Is(err, boom) {
			t.Errorf("%v", err)
		}
		// An audit row that cannot be written takes the write with it.
		err = open(w).Write(ctx, "createProject", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			err := create(ctx, tx, e, id.New(id.Project), w.Acme.ID)
			e.Changes = func() {}
			return err
		})
		if err == nil {
			t.Error("no error")
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSilentWriteLeavesNoAuditRow(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		before := w.Rows(t)
		err := open(w).Write(w.Acme.As(actor.Admin), "nothing", func(_ context.Context, _ *ent.Tx, e *journal.Entry) error {
			e.SkipAudit = true
			return nil
		})
		if diff := cmp.Diff(before, w.Rows(t)); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
}
