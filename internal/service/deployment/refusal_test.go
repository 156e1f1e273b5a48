package deployment_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// operations are those on one deployment, by name, each as the role that may carry it out.
var operations = map[string]struct {
	role actor.Role
	call func(*worldtest.World, context.Context, string) (*ent.Deployment, error)
}{
	"read": {actor.Viewer, func(w *worldtest.World, ctx context.Context, id string) (*ent.Deployment, error) {
		d, err := w.Deploy.View.Deployment(ctx, id)
		return (*ent.Deployment)(d), err
	}},
	"rollback": {actor.Developer, func(w *worldtest.World, ctx context.Context, id string) (*ent.Deployment, error) {
		return worldtest.Unwarned(w.Deploy.Propose.Rollback(ctx, propose.Replay{SourceID: id}))
	}},
	"redeploy": {actor.Developer, func(w *worldtest.World, ctx context.Context, id string) (*ent.Deployment, error) {
		return worldtest.Unwarned(w.Deploy.Propose.Redeploy(ctx, propose.Replay{SourceID: id}))
	}},
	"cancel": {actor.Developer, func(w *worldtest.World, ctx context.Context, id string) (*ent.Deployment, error) {
		return w.Deploy.Execution.Cancel(ctx, id, nil)
	}},
	"report": {actor.Runner, func(w *worldtest.World, ctx context.Context, id string) (*ent.Deployment, error) {
		d, _, err := w.Deploy.Execution.Report(ctx, id, w.LeaseOf(w.Acme, id), execution.Report{Data: strictjson.MustParse(`{"detectedVia":"poll"}`)})
		return d, err
	}},
	"complete": {actor.Runner, func(w *worldtest.World, ctx context.Context, id string) (*ent.Deployment, error) {
		return w.Deploy.Execution.End(ctx, id, w.LeaseOf(w.Acme, id), execution.Completion{})
	}},
}

// refused says that a call is refused with a code, gives nothing and writes nothing.
func refused(t *testing.T, w *worldtest.World, name string, code fault.Code, call func() (*ent.Deployment, error)) *fault.Error {
	t.Helper()
	var f *fault.Error
	unchanged(t, w, name, func() {
		d, err := call()
		if !fault.Is(err, code) || d != nil {
			t.Errorf("%s: %v, %v, want %s", name, d, err, code)
		}
		errors.As(err, &f)
	})
	return f
}

func raw(t *testing.T, w *worldtest.World, statement string) {
	t.Helper()
	result, err := w.Raw(t, w.Acme).ExecContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); n != 1 || err != nil {
		t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
}

func TestAbsentAndForeignDeploymentsAreNotFoundAlike(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		theirs := w.Fixture(t, w.Globex, "web").Succeeded(t)
		for name, operation := range operations {
			texts := map[string]bool{}
			for _, text := range []string{
				theirs.ID, id.New(id.Deployment), id.New(id.Project), theirs.ModuleInstanceID, "", "dep_", "x",
				"dep_'; DROP TABLE deployments; --", strings.Repeat("é", 5000),
			} {
				// A viewer is told that there is nothing, not that a viewer may not.
				for _, role := range []actor.Role{operation.role, actor.Viewer} {
					f := refused(t, w, name, fault.DeploymentNotFound, func() (*ent.Deployment, error) {
						return operation.call(w, w.Acme.As(role), text)
					})
					if f != nil && len(f.Message) < 200 {
						texts[strings.ReplaceAll(f.Message, `"`+text+`"`, "it")] = true
					}
				}
			}
			if len(texts) > 2 {
				t.Errorf("%s tells them apart: %v", name, texts)
			}
		}
	})
}

func TestRolesThatMayNotAreForbidden(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := w.Fixture(t, w.Acme, "web").Succeeded(t)
		for name, operation := range operations {
			for _, role := range []actor.Role{actor.Viewer, actor.Developer, actor.Admin, actor.Runner} {
				may := name == "read" || role == operation.role || role == actor.Admin && operation.role == actor.Developer
				if !may {
					_ = refused(t, w, string(role)+" "+name, fault.DeploymentForbidden, func() (*ent.Deployment, error) {
						return operation.call(w, w.Acme.As(role), d.ID)
					})
				}
			}
			for name, ctx := range map[string]context.Context{
				"anonymous " + name: actor.With(t.Context(), actor.Anonymous()),
			} {
				_ = refused(t, w, name, fault.RequestUnauthenticated, func() (*ent.Deployment, error) { return operation.call(w, ctx, d.ID) })
			}
		}
		for _, role := range []actor.Role{actor.Viewer, actor.Developer, actor.Admin} {
			_ = refused(t, w, string(role)+" claim", fault.DeploymentForbidden, func() (*ent.Deployment, error) {
				d, _, err := w.Deploy.Execution.Claim(w.Acme.As(role), execution.Claim{Kinds: module.DeploymentTypes})
				return d, err
			})
		}
	})
}

func TestVersionOfAnotherModuleIsNotDeployed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "worker")
		f := refused(t, w, "create", fault.RequestInvalid, func() (*ent.Deployment, error) {
			return worldtest.Unwarned(w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
				InstanceID: p.Instance.ID, VersionID: other.Version.ID,
				Inputs: strictjson.MustParse(`{"image":"web:1"}`), Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(worldtest.Data),
			}))
		})
		want := []fault.Violation{{Pointer: "/moduleVersionId", Rule: "other_module",
			Message: "must be a version of the instance's module " + p.Definition.ID + ", found one of " + other.Definition.ID}}
		if f != nil && !cmp.Equal(f.Violations, want) {
			t.Errorf("violations %v, want %v", f.Violations, want)
		}
	})
}

func TestOnlyWhatSucceededIsRolledBackTo(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for status, make := range states {
			if status == "SUCCEEDED" {
				continue
			}
			d := make(t, w.Fixture(t, w.Acme, "web-"+status), w)
			f := refused(t, w, status, fault.DeploymentTargetNotSucceeded, func() (*ent.Deployment, error) {
				return worldtest.Unwarned(w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: d.ID}))
			})
			if want := map[string]any{"deploymentId": d.ID, "status": status}; !cmp.Equal(f.Metadata, want) {
				t.Errorf("%s: metadata %v", status, f.Metadata)
			}
			if status == "PENDING" || status == "RUNNING" {
				w.Cancel(t, w.Acme, d.ID)
			}
		}
	})
}

func TestReleasesThatCannotBeTrustedAreNotReplayed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Developer)
		gone := w.Fixture(t, w.Acme, "gone").Succeeded(t)
		raw(t, w, `UPDATE deployments SET release_id = NULL WHERE id = '`+gone.ID+`'`)
		changed := w.Fixture(t, w.Acme, "changed").Succeeded(t)
		raw(t, w, `UPDATE releases SET content = replace(content, 'web:1.4.2', 'web:6.6.6') WHERE id = '`+*changed.ReleaseID+`'`)
		for name, replay := range map[string]worldtest.Replaying{
			"rollback": w.Deploy.Propose.Rollback, "redeploy": w.Deploy.Propose.Redeploy,
		} {
			_ = refused(t, w, name, fault.ReleaseUnavailable, func() (*ent.Deployment, error) {
				return worldtest.Unwarned(replay(ctx, propose.Replay{SourceID: gone.ID}))
			})
			_ = refused(t, w, name, fault.ReleaseDigestMismatch, func() (*ent.Deployment, error) {
				return worldtest.Unwarned(replay(ctx, propose.Replay{SourceID: changed.ID}))
			})
		}
	})
}

func TestActiveDeploymentBlocksOthersAndIsNamed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		target := p.Succeeded(t)
		ctx := w.Acme.As(actor.Developer)
		blocker, _, err := w.Deploy.Propose.Redeploy(ctx, propose.Replay{SourceID: target.ID})
		if err != nil {
			t.Fatal(err)
		}
		starts := map[string]func() (*ent.Deployment, error){
			"rollback": func() (*ent.Deployment, error) {
				return worldtest.Unwarned(w.Deploy.Propose.Rollback(ctx, propose.Replay{SourceID: target.ID}))
			},
			"redeploy": func() (*ent.Deployment, error) {
				return worldtest.Unwarned(w.Deploy.Propose.Redeploy(ctx, propose.Replay{SourceID: target.ID}))
			},
			"redeploy of the active": func() (*ent.Deployment, error) {
				return worldtest.Unwarned(w.Deploy.Propose.Redeploy(ctx, propose.Replay{SourceID: blocker.ID}))
			},
			"create": func() (*ent.Deployment, error) {
				return worldtest.Unwarned(w.Deploy.Propose.Create(ctx, propose.New{InstanceID: p.Instance.ID, VersionID: p.Version.ID,
					Inputs: strictjson.MustParse(`{"image":"web:new"}`), Artifact: strictjson.MustParse(worldtest.Artifact)}))
			},
		}
		for _, status := range []string{"PENDING", "RUNNING"} {
			if status == "RUNNING" {
				p.Claim(t, blocker)
			}
			for name, start := range starts {
				f := refused(t, w, name, fault.DeploymentInProgress, start)
				named := map[string]any{
					"deploymentId": blocker.ID, "status": status, "startedBy": "developer",
					"createdAt": blocker.CreatedAt.UTC().Format(time.RFC3339Nano),
				}
				if diff := cmp.Diff(map[string]any{"blockedBy": named}, f.Metadata); diff != "" {
					t.Errorf("%s, metadata: %s", name, diff)
				}
				want := []fault.Section{{Title: "Active deployment", Render: fault.RenderObject, Object: named}}
				if diff := cmp.Diff(want, f.Details); diff != "" {
					t.Errorf("%s, details: %s", name, diff)
				}
				if f.Action == nil || f.Action.URL != "/deployments/"+blocker.ID || f.Action.Label == "" {
					t.Errorf("%s, action: %v", name, f.Action)
				}
			}
		}
		other := p.NewInstance(t, "worker")
		p.Deploy(t, other.ID, `{"image":"web:1"}`)
	})
}
