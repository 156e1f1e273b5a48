package deployment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/ent/deploymentchange"
	"slipway/internal/base/actor"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// changes are all the ways to change a deployment: each makes one and changes it once more.
var changes = map[string]func(*testing.T, *worldtest.World, *worldtest.Fixture, *clock) *ent.Deployment{
	"create": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, _ *clock) *ent.Deployment {
		return states["PENDING"](t, p, w)
	},
	"claim": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, _ *clock) *ent.Deployment {
		return states["RUNNING"](t, p, w)
	},
	"succeed": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, _ *clock) *ent.Deployment {
		return states["SUCCEEDED"](t, p, w)
	},
	"fail": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, _ *clock) *ent.Deployment {
		return states["FAILED"](t, p, w)
	},
	"cancel": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, _ *clock) *ent.Deployment {
		return states["CANCELED"](t, p, w)
	},
	"rollback": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, _ *clock) *ent.Deployment {
		return replayed(t, w, p, w.Deploy.Propose.Rollback)
	},
	"redeploy": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, _ *clock) *ent.Deployment {
		return replayed(t, w, p, w.Deploy.Propose.Redeploy)
	},
	"report": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, _ *clock) *ent.Deployment {
		d := states["RUNNING"](t, p, w)
		d, _, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), d.ID, *d.LeaseID, execution.Report{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	},
	"expire": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, c *clock) *ent.Deployment {
		d := states["RUNNING"](t, p, w)
		c.Advance(execution.DefaultLease)
		if n, err := w.Deploy.Execution.ExpireLeases(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		return w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID)
	},
}

func replayed(t *testing.T, w *worldtest.World, p *worldtest.Fixture, f worldtest.Replaying) *ent.Deployment {
	t.Helper()
	d, _, err := f(w.Acme.As(actor.Developer), propose.Replay{SourceID: p.Succeeded(t).ID})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryUpdateRaisesTheVersionAndIsRecordedInItsTransaction(t *testing.T) {
	t.Parallel()
	versions := map[string]int32{
		"create": 1, "rollback": 1, "redeploy": 1, "claim": 2, "cancel": 2, "report": 3, "succeed": 3, "fail": 3, "expire": 3,
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock := clockOf(w)
		for name, do := range changes {
			d := do(t, w, w.Fixture(t, w.Acme, name), clock)
			var want []int32
			for v := range versions[name] {
				want = append(want, v+1)
			}
			if diff := cmp.Diff(want, recordedVersions(t, w, w.Acme, d.ID)); diff != "" || d.Version != versions[name] {
				t.Errorf("%s: version %d, recorded: %s", name, d.Version, diff)
			}
			last := w.Store.Client.DeploymentChange.Query().Where(deploymentchange.DeploymentID(d.ID), deploymentchange.Version(d.Version)).OnlyX(w.Acme.As(actor.Viewer))
			if !last.CreatedAt.Equal(d.UpdatedAt) || last.OrganizationID != w.Acme.ID {
				t.Errorf("%s: recorded at %s in %s, written at %s in %s", name, last.CreatedAt, last.OrganizationID, d.UpdatedAt, w.Acme.ID)
			}
			if t.Name() == "TestEveryUpdateRaisesTheVersionAndIsRecordedInItsTransaction/postgres" {
				wantOneTransaction(t, w, name, d.ID)
			}
			if d.CompletedAt == nil {
				w.Cancel(t, w.Acme, d.ID)
			}
		}
	})
}

// wantOneTransaction wants the deployment, its last change row and its last audit row to be written in
// one transaction, as PostgreSQL notes it.
func wantOneTransaction(t *testing.T, w *worldtest.World, name, deploymentID string) {
	t.Helper()
	row := w.Raw(t, w.Acme).QueryRowContext(t.Context(), `SELECT xmin::text,
		(SELECT xid::text FROM deployment_changes c WHERE c.deployment_id = d.id ORDER BY c.version DESC LIMIT 1),
		(SELECT xmin::text FROM audit_events a WHERE a.object_id = d.id ORDER BY a.id DESC LIMIT 1)
		FROM deployments d WHERE id = $1`, deploymentID)
	var written, recorded, audited string
	if err := row.Scan(&written, &recorded, &audited); err != nil || written != recorded || written != audited {
		t.Errorf("%s: written in %s, recorded in %s, audited in %s, %v", name, written, recorded, audited, err)
	}
}

func TestClaimsOfNothingAreNotRecorded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		unchanged(t, w, "a claim", func() {
			d, lease, err := w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes, LeaseID: new("my-lease-1")})
			if d != nil || lease != nil || err != nil {
				t.Errorf("%v under %v, %v", d, lease, err)
			}
		})
	})
}

// recordedVersions are the versions that a deployment's change rows have, in order.
func recordedVersions(t *testing.T, w *worldtest.World, o *worldtest.Org, deploymentID string) []int32 {
	t.Helper()
	var versions []int32
	for _, c := range w.Store.Client.DeploymentChange.Query().Order(ent.Asc("id")).AllX(o.As(actor.Viewer)) {
		if c.DeploymentID == deploymentID {
			versions = append(versions, c.Version)
		}
	}
	return versions
}
