package deployment_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	entquarantine "slipway/ent/quarantine"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/release"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/state"
	"slipway/internal/test/worldtest"
)

// rollbacks are two ways to the same rows: with one statement for all that decides, as it is done, and
// with a query of ent for each part.
var rollbacks = []struct {
	name string
	call func(context.Context, *worldtest.World, string) (*ent.Deployment, error)
}{
	{"joined", func(ctx context.Context, w *worldtest.World, id string) (*ent.Deployment, error) {
		return worldtest.Unwarned(w.Deploy.Propose.Rollback(ctx, propose.Replay{SourceID: id}))
	}},
	{"plain", plainRollback},
}

// BenchmarkReplay rolls back in both ways by turns, so that what else the machine does meets each alike,
// and cancels what that started, which does not count. It returns medians; ns/op is that of joined.
// Statements are those without BEGIN and COMMIT.
func BenchmarkReplay(b *testing.B) {
	for name, database := range worldtest.Databases {
		b.Run(name, func(b *testing.B) {
			w := worldtest.New(b, database(b))
			target := w.Fixture(b, w.Acme, "web").Succeeded(b)
			took, statements := make([][]time.Duration, len(rollbacks)), make([]int, len(rollbacks))
			for b.Loop() {
				for i, way := range rollbacks {
					took[i] = append(took[i], rollback(b, w, target.ID, way.call, &statements[i]))
				}
			}
			var median [2]float64
			for i, way := range rollbacks {
				slices.Sort(took[i])
				median[i] = float64(took[i][len(took[i])/2].Nanoseconds())
				b.ReportMetric(median[i], way.name+"-ns/op")
				b.ReportMetric(float64(statements[i]), way.name+"-statements/op")
			}
			b.ReportMetric(median[0], "ns/op")
			b.ReportMetric(median[1]/median[0], "plain/joined")
		})
	}
}

// rollback returns the time of one rollback and counts its statements, and cancels what that started.
func rollback(b *testing.B, w *worldtest.World, id string, call func(context.Context, *worldtest.World, string) (*ent.Deployment, error), statements *int) (took time.Duration) {
	b.Helper()
	developer := w.Acme.As(actor.Developer)
	var made *ent.Deployment
	var err error
	*statements = len(w.Statements(func() {
		begun := time.Now()
		made, err = call(developer, w, id)
		took = time.Since(begun)
	}))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := w.Deploy.Execution.Cancel(developer, made.ID, nil); err != nil {
		b.Fatal(err)
	}
	return took
}

// parts are all that decides on a rollback.
type parts struct {
	source, live *ent.Deployment
	version      *ent.ModuleVersion
	content      release.Content
}

// plainRollback is Rollback with a query for each part, the same rules and the same rows.
func plainRollback(ctx context.Context, w *worldtest.World, sourceID string) (*ent.Deployment, error) {
	a, journalOf := actor.From(ctx), w.Journal
	if err := access.Check(a, access.Deploy, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	deploymentID := journalOf.NewID(id.Deployment)
	var made *ent.Deployment
	err := journalOf.Write(ctx, "rollbackDeployment", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		p, err := readParts(ctx, tx, e, sourceID)
		if err != nil {
			return err
		}
		data, err := plainData(a, p)
		if err != nil {
			return err
		}
		from := p.source
		e.ObjectID, e.Changes = deploymentID, map[string]any{"source": from.ID, "releaseId": from.ReleaseID}
		made, err = tx.Deployment.Create().
			SetID(deploymentID).SetOrganizationID(from.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
			SetProjectID(from.ProjectID).SetEnvironmentID(from.EnvironmentID).
			SetModuleInstanceID(from.ModuleInstanceID).SetNillableReleaseID(from.ReleaseID).
			SetDeploymentType(from.DeploymentType).SetTriggerSource(state.TriggerRollback).
			SetDescription("Rollback to " + from.ID + ": version " + p.version.Version).SetCreatedBy(a.Name).
			SetNillableResourceArn(from.ResourceArn).SetNillableResourceName(from.ResourceName).
			SetData(data.Column()).SetRollbackToDeploymentID(from.ID).
			Save(ctx)
		e.Changed = made
		return err
	})
	return made, err
}

func readParts(ctx context.Context, tx *ent.Tx, e *journal.Entry, sourceID string) (p parts, err error) {
	if p.source, err = tx.Deployment.Get(ctx, sourceID); err != nil {
		return p, err
	}
	if p.source.Status != entdeployment.StatusSUCCEEDED || p.source.ReleaseID == nil {
		return p, fault.New(fault.DeploymentTargetNotSucceeded, "It did not succeed.")
	}
	r, err := tx.Release.Get(ctx, *p.source.ReleaseID)
	if err != nil {
		return p, err
	}
	if p.content, err = releases.Content(r); err != nil {
		return p, err
	}
	if p.version, err = tx.ModuleVersion.Get(ctx, r.ModuleVersionID); err != nil {
		return p, err
	}
	open, err := tx.Quarantine.Query().Where(entquarantine.ReleaseID(r.ID), entquarantine.LiftedAtIsNil()).Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return p, err
	}
	if releases.Holds(open, e.At) {
		return p, fault.New(fault.ReleaseQuarantined, "It is quarantined.")
	}
	active, err := tx.Deployment.Query().
		Where(entdeployment.ModuleInstanceID(p.source.ModuleInstanceID), entdeployment.CompletedAtIsNil()).Exist(ctx)
	if err != nil {
		return p, err
	}
	if active {
		return p, fault.New(fault.DeploymentInProgress, "Another is active.")
	}
	instance, err := tx.ModuleInstance.Get(ctx, p.source.ModuleInstanceID)
	if err != nil || instance.LiveDeploymentID == nil {
		return p, err
	}
	p.live, err = tx.Deployment.Get(ctx, *instance.LiveDeploymentID)
	return p, err
}

// plainData returns the data of the new deployment.
func plainData(a *actor.Actor, p parts) (*ecs.Data, error) {
	data, err := p.source.Data.Data()
	if err != nil {
		return nil, err
	}
	var shipped *ecs.TaskDefinition
	if p.live != nil {
		live, err := p.live.Data.Data()
		if err != nil {
			return nil, err
		}
		shipped = live.DeployedTaskDefinition
	}
	return data.Replay(p.content.Artifact, shipped, string(a.Channel), a.Name)
}
