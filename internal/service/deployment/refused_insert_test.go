package deployment_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// TestWhatTheDatabaseRefusesIsToldApart has somebody else commit between the read that decides on a request and the
// statement that inserts all its rows. SQLite's transactions that write do not overlap.
func TestWhatTheDatabaseRefusesIsToldApart(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	p := w.Fixture(t, w.Acme, "web")
	ctx := w.Acme.As(actor.Developer)
	// overtaken makes a request that is overtaken by another.
	overtaken := func(request func(context.Context, *deployment.Services) (*ent.Deployment, error), overtake func()) (*ent.Deployment, error) {
		var once atomic.Bool
		slow := worldtest.Another(t, w.DatabaseURL, func(c *store.Config) {
			c.Trace = func(query string, _ []any) {
				if strings.Contains(query, `INSERT INTO "deployments"`) && once.CompareAndSwap(false, true) {
					overtake()
				}
			}
		})
		d, err := request(ctx, slow.Deploy)
		if !once.Load() {
			t.Error("nothing was inserted")
		}
		return d, err
	}
	at := map[string]*ent.Deployment{} // what has succeeded, by the name of its instance
	for _, name := range []string{"busy", "free-again", "equal", "key", "elsewhere"} {
		at[name] = p.Finish(t, p.Deploy(t, p.NewInstance(t, name).ID, `{"image":"web:1"}`), nil)
	}
	rollback := func(source *ent.Deployment, key *string) func(context.Context, *deployment.Services) (*ent.Deployment, error) {
		return func(ctx context.Context, s *deployment.Services) (*ent.Deployment, error) {
			return worldtest.Unwarned(s.Propose.Rollback(ctx, propose.Replay{SourceID: source.ID, Request: admission.Request{IdempotencyKey: key}}))
		}
	}
	create := func(source *ent.Deployment, image string) func(context.Context, *deployment.Services) (*ent.Deployment, error) {
		return func(ctx context.Context, s *deployment.Services) (*ent.Deployment, error) {
			return worldtest.Unwarned(s.Propose.Create(ctx, propose.New{
				InstanceID: source.ModuleInstanceID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(`{"image":"` + image + `"}`),
				Artifact: strictjson.MustParse(worldtest.Artifact),
			}))
		}
	}
	done := func(call func(context.Context, *deployment.Services) (*ent.Deployment, error)) *ent.Deployment {
		d, err := call(ctx, w.Deploy)
		return made(t, d, err)
	}

	source := at["busy"]
	var other *ent.Deployment
	_, err := overtaken(rollback(source, nil), func() { other = done(rollback(source, nil)) })
	if !fault.Is(err, fault.DeploymentInProgress) || !strings.Contains(err.Error(), other.ID) {
		t.Errorf("a busy instance: %v, want %s as the blocker", err, other.ID)
	}

	source = at["free-again"]
	d, err := overtaken(rollback(source, nil), func() { w.Cancel(t, w.Acme, done(rollback(source, nil)).ID) })
	if err != nil || *d.RollbackToDeploymentID != source.ID {
		t.Errorf("an instance that is free again: %v, %v", d, err)
	}

	source = at["equal"]
	d, err = overtaken(rollback(source, new("equal")), func() { other = done(rollback(source, new("equal"))) })
	if err != nil || d.ID != other.ID {
		t.Errorf("an equal request: %v, %v, want %s", d, err, other.ID)
	}

	source = at["key"]
	elsewhere := at["elsewhere"]
	_, err = overtaken(rollback(source, new("key")), func() { other = done(rollback(elsewhere, new("key"))) })
	if !fault.Is(err, fault.RequestIdempotencyReused) || !strings.Contains(err.Error(), other.ID) {
		t.Errorf("another request under the key: %v, want %s in it", err, other.ID)
	}

	d, err = overtaken(create(source, "web:new"), func() {
		w.Cancel(t, w.Acme, other.ID)
		other = done(create(elsewhere, "web:new"))
	})
	if err != nil || *d.ReleaseID != *other.ReleaseID {
		t.Errorf("an equal release: %v, %v, want %v", d, err, other)
	}

	// What was refused has left nothing behind.
	rows := w.Rows(t)
	if rows["idempotency_keys"] != 2 || rows["deployment_changes"] == 0 {
		t.Errorf("%v", rows)
	}
	var audited int
	err = w.Raw(t, w.Acme).QueryRowContext(t.Context(), `SELECT count(*) FROM audit_events WHERE action IN ('createDeployment', 'rollbackDeployment')`).Scan(&audited)
	if err != nil || audited != rows["deployments"] {
		t.Errorf("%d deployments, %d audit rows of their creation, %v", rows["deployments"], audited, err)
	}
}
