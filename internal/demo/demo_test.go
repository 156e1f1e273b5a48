package demo_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/record"
	"slipway/internal/demo"
	"slipway/internal/test/worldtest"
)

// each runs a test against a seeded world on each database.
func each(t *testing.T, test func(t *testing.T, w *worldtest.World, r *demo.Result)) {
	t.Helper()
	for name, database := range worldtest.Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.Another(t, database(t))
			test(t, w, seed(t, w, slog.New(slog.DiscardHandler)))
		})
	}
}

func seed(t *testing.T, w *worldtest.World, log *slog.Logger) *demo.Result {
	t.Helper()
	r, err := demo.Seed(t.Context(), w.Services, w.Store, log)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestASeededDatabase(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *worldtest.World, r *demo.Result) {
		for name, test := range map[string]func(*testing.T, *worldtest.World, *demo.Result){
			"the organization has places and definitions":    hasPlacesAndDefinitions,
			"modules are of every sort and use all variants": areOfEverySort,
			"deployments end in every way":                   endInEveryWay,
			"deployments have the container service's shape": haveTheShape,
			"named deployments are what their names say":     areWhatTheirNamesSay,
			"tokens act in their roles":                      actInTheirRoles,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, w, r)
			})
		}
	})
}

// inside returns a context that sees all that the organization sees.
func inside(t *testing.T, r *demo.Result) context.Context {
	return actor.With(t.Context(), &actor.Actor{Name: "test", Role: actor.System, OrganizationID: r.OrganizationID})
}

func hasPlacesAndDefinitions(t *testing.T, w *worldtest.World, r *demo.Result) {
	t.Helper()
	ctx, c := inside(t, r), w.Store.Client
	count := func(what string, n int, err error, atLeast int) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if n < atLeast {
			t.Errorf("%d %s, want at least %d", n, what, atLeast)
		}
	}
	projects, err := c.Project.Query().Count(ctx)
	count("projects", projects, err, 2)
	environments, err := c.Environment.Query().Count(ctx)
	count("environments", environments, err, 5)
	definitions, err := c.DefaultValueDefinition.Query().Count(ctx)
	count("default value definitions", definitions, err, 6)
	for _, e := range c.Environment.Query().AllX(ctx) {
		instances, err := c.ModuleInstance.Query().Where(moduleinstance.EnvironmentID(e.ID)).Count(ctx)
		count("instances in "+e.Name, instances, err, 1)
	}
	byCreator, kinds := map[string]int{}, map[string]int{}
	for _, d := range c.DefaultValueDefinition.Query().AllX(ctx) {
		byCreator[string(d.CreatedByType)]++
		schema, err := d.Schema.Property(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kinds[schema.Head().Type]++
	}
	if byCreator["SYSTEM"] != 1 || len(kinds) < 6 {
		t.Errorf("definitions by creator %v and kind %v, want one of SYSTEM and six kinds", byCreator, kinds)
	}
}

func endInEveryWay(t *testing.T, w *worldtest.World, r *demo.Result) {
	t.Helper()
	byStatus, byTrigger, withData := map[deployment.Status]int{}, map[string]int{}, 0
	now := time.Now()
	for _, d := range w.Store.Client.Deployment.Query().AllX(inside(t, r)) {
		byStatus[d.Status]++
		byTrigger[d.TriggerSource]++
		if !d.Data.IsZero() {
			withData++
		}
		if (d.Status == deployment.StatusFAILED || d.Status == deployment.StatusCANCELED) != (d.Error != nil) {
			t.Errorf("%s is %s with the error %v", d.ID, d.Status, d.Error)
		}
		if d.CreatedAt.After(now) || d.UpdatedAt.After(now) || now.Sub(d.CreatedAt) > 31*24*time.Hour {
			t.Errorf("%s was created at %s and changed at %s", d.ID, d.CreatedAt, d.UpdatedAt)
		}
		if !d.CreatedAt.Equal(d.CreatedAt.Truncate(time.Microsecond)) {
			t.Errorf("%s was created at %s, which the databases keep differently", d.ID, d.CreatedAt)
		}
	}
	if withData < 60 {
		t.Errorf("%d deployments of container services, want at least 60", withData)
	}
	for _, s := range []deployment.Status{
		deployment.StatusPENDING, deployment.StatusRUNNING, deployment.StatusSUCCEEDED, deployment.StatusFAILED, deployment.StatusCANCELED,
	} {
		if byStatus[s] < 2 {
			t.Errorf("%d deployments are %s, want at least 2", byStatus[s], s)
		}
	}
	if byStatus[deployment.StatusAWAITING_APPROVAL] == 0 {
		t.Error("nothing waits for approvals")
	}
	for _, trigger := range []string{"api", "rollback", "redeploy"} {
		if byTrigger[trigger] < 3 {
			t.Errorf("%d deployments by %s, want at least 3", byTrigger[trigger], trigger)
		}
	}
}

func areWhatTheirNamesSay(t *testing.T, w *worldtest.World, r *demo.Result) {
	t.Helper()
	ctx := inside(t, r)
	get := func(id string) *record.Deployment {
		t.Helper()
		d, err := w.Deploy.View.Deployment(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	live, target, failed := get(r.LiveDeploymentID), get(r.RollbackTargetID), get(r.FailedDeploymentID)
	instance, err := w.Catalog.Instance(ctx, live.ModuleInstanceID)
	if err != nil {
		t.Fatal(err)
	}
	if instance.LiveDeploymentID == nil || *instance.LiveDeploymentID != live.ID {
		t.Errorf("live is %v, want %s", instance.LiveDeploymentID, live.ID)
	}
	if target.Status != deployment.StatusSUCCEEDED || target.ModuleInstanceID != instance.ID || target.ID == live.ID {
		t.Errorf("the rollback target %s of %s is %s", target.ID, target.ModuleInstanceID, target.Status)
	}
	if failed.Status != deployment.StatusFAILED || failed.Error.Message == "" {
		t.Errorf("%s is %s with the error %v", failed.ID, failed.Status, failed.Error)
	}
	awaiting := get(r.AwaitingDeploymentID)
	if awaiting.Status != deployment.StatusAWAITING_APPROVAL || awaiting.PromotedFrom == nil {
		t.Errorf("%s is %s, promoted from %v", awaiting.ID, awaiting.Status, awaiting.PromotedFrom)
	}
	if _, err := w.Defaults.Definition(ctx, r.DefaultValueDefinitionID); err != nil {
		t.Error(err)
	}
}

func TestASecondSeedingIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *worldtest.World, r *demo.Result) {
		before := contents(t, w, r)
		_, err := demo.Seed(t.Context(), w.Services, w.Store, slog.New(slog.DiscardHandler))
		var refusal *fault.Error
		if !errors.As(err, &refusal) || refusal.Code != fault.OrganizationSlugTaken {
			t.Fatalf("%v, want %s", err, fault.OrganizationSlugTaken)
		}
		if after := contents(t, w, r); after != before {
			t.Errorf("there is %+v, was %+v", after, before)
		}
	})
}

type counts struct{ organizations, tokens, modules, audits int }

// contents counts what a seeding makes first, and the traces of all the rest.
func contents(t *testing.T, w *worldtest.World, r *demo.Result) counts {
	ctx, c := inside(t, r), w.Store.Client
	return counts{
		c.Organization.Query().CountX(ctx), c.Token.Query().CountX(ctx),
		c.ModuleDefinition.Query().CountX(ctx), c.AuditEvent.Query().CountX(ctx),
	}
}

func TestTheLogGetsOneLine(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := worldtest.Another(t, worldtest.SQLite(t))
	seed(t, w, slog.New(slog.NewJSONHandler(&log, nil)))
	if lines := bytes.Count(log.Bytes(), []byte("\n")); lines != 1 {
		t.Errorf("%d lines, want 1:\n%s", lines, log.Bytes())
	}
}
