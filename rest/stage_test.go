package rest_test

import (
	"context"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/service/catalog"
	"slipway/internal/service/defaults"
	"slipway/internal/test/worldtest"
)

// stage is a world with everything that the operations can meet.
type stage struct {
	*worldtest.World
	place *worldtest.Fixture
	// definition is Acme's, others is Globex's.
	definition, others *ent.DefaultValueDefinition
	// succeeded and spare can be replayed, each on an instance of its own; failed and live are on a third
	// one, and pending keeps busy from being replayed.
	succeeded, spare, live, failed, busy, pending *ent.Deployment
	// lost has no release any more, forged has one that is not what was deployed, foreign is Globex's.
	lost, forged, foreign *ent.Deployment
}

func newStage(t *testing.T, w *worldtest.World) *stage {
	t.Helper()
	s := &stage{World: w, place: w.Fixture(t, w.Acme, "web")}
	s.definition, s.others = define(t, w, w.Acme), define(t, w, w.Globex)
	s.foreign = w.Fixture(t, w.Globex, "web").Succeeded(t)
	s.succeeded, s.spare = s.succeed(t, "first"), s.succeed(t, "second")
	s.live = s.place.Succeeded(t)
	s.failed = s.place.Failed(t)
	s.busy = s.succeed(t, "busy")
	s.pending = s.place.Deploy(t, s.busy.ModuleInstanceID, `{"image":"web:1.4.3"}`)
	s.lost, s.forged = s.damaged(t)
	root := actor.With(t.Context(), &actor.Actor{Name: "root", Role: actor.Superadmin, Globally: true, Channel: actor.CLI})
	catalogue(t, w, root, "aws/vpc", moduledefinition.StatusACTIVE)
	catalogue(t, w, root, "aws/rds", moduledefinition.StatusDRAFT)
	catalogue(t, w, w.Acme.As(actor.Admin), "queue", moduledefinition.StatusDRAFT)
	return s
}

func define(t *testing.T, w *worldtest.World, o *worldtest.Org) *ent.DefaultValueDefinition {
	t.Helper()
	schema, err := strictjson.Parse([]byte(`{"id":"engine","label":"Engine","type":"string","values":["postgres","mysql"]}`))
	if err != nil {
		t.Fatal(err)
	}
	description := "The engine of new databases."
	d, _, err := w.Defaults.Create(o.As(actor.Admin), defaults.New{
		GivenID: "db_engine", Name: "Database engine", Description: &description, Schema: inputprop.NewRawProperty(schema),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func catalogue(t *testing.T, w *worldtest.World, ctx context.Context, moduleType string, status moduledefinition.Status) {
	t.Helper()
	if _, _, err := w.Catalog.CreateDefinition(ctx, catalog.NewDefinition{Name: moduleType, Type: moduleType, Status: status}); err != nil {
		t.Fatal(err)
	}
}

// succeed makes a deployment that has succeeded, of an instance of its own.
func (s *stage) succeed(t *testing.T, instance string) *ent.Deployment {
	t.Helper()
	return s.place.Finish(t, s.place.Deploy(t, s.place.NewInstance(t, instance).ID, `{"image":"web:1.4.2"}`), nil)
}

// damaged makes two deployments whose releases cannot be replayed, as no service would.
func (s *stage) damaged(t *testing.T) (lost, forged *ent.Deployment) {
	t.Helper()
	instance, forgery := s.place.NewInstance(t, "damaged").ID, id.New(id.Release)
	now := store.Now()
	none := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	err := s.Store.Tx(s.Acme.As(actor.Admin), none, func(ctx context.Context, tx *ent.Tx) error {
		err := tx.Release.Create().SetID(forgery).SetOrganizationID(s.Acme.ID).SetCreatedAt(now).SetUpdatedAt(now).
			SetModuleVersionID(s.place.Version.ID).SetDigest("sha256:00").SetContent("{}").Exec(ctx)
		if err != nil {
			return err
		}
		if lost, err = s.ended(tx, instance, now).Save(ctx); err != nil {
			return err
		}
		forged, err = s.ended(tx, instance, now).SetReleaseID(forgery).Save(ctx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lost, forged
}

func (s *stage) ended(tx *ent.Tx, instanceID string, now time.Time) *ent.DeploymentCreate {
	return tx.Deployment.Create().SetID(id.New(id.Deployment)).SetOrganizationID(s.Acme.ID).
		SetCreatedAt(now).SetUpdatedAt(now).SetStartedAt(now).SetCompletedAt(now).
		SetProjectID(s.place.Project.ID).SetEnvironmentID(s.place.Environment.ID).SetModuleInstanceID(instanceID).
		SetDeploymentType(module.DeploymentTypeECS).SetTriggerSource("api").SetCreatedBy("test").
		SetStatus(entdeployment.StatusSUCCEEDED)
}
