package delivery_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/Khan/genqlient/graphql"

	delivery "slipway/conformance/genqlient"
	"slipway/internal/base/actor"
	"slipway/internal/demo"
	"slipway/internal/test/worldtest"
)

// An instance of the demo with a live deployment, a previous one, and one that awaits approval.
const (
	environment = "payments/production"
	instance    = environment + "/refunds"
)

const versionOf = `query($id: ID!) { deployment(id: $id) { moduleVersion { id } } }`

// answer returns a function that returns the data of a screen, and ends the test if there was an error.
func answer[T any](data *T, err error) func(*testing.T) *T {
	return func(t *testing.T) *T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
}

// shows fails the test if a list of a screen is empty.
func shows[T any](t *testing.T, screen string, list []T) {
	t.Helper()
	if len(list) == 0 {
		t.Errorf("the screen %s shows nothing", screen)
	}
}

func weekAgo() time.Time { return time.Now().AddDate(0, 0, -7).UTC() }

func TestTheGeneratedClientReadsEveryScreen(t *testing.T) {
	t.Parallel()
	for name, database := range worldtest.Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.Another(t, database(t))
			seeded, err := demo.Seed(t.Context(), w.Services, w.Store, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			token := seeded.Tokens[actor.Admin]
			c := delivery.New(w.URL+"/graphql", token)

			readsScreensOfTheOrganization(t, c)
			readsScreensOfAnEnvironment(t, c)
			of := readsScreensOfAnInstance(t, c)
			readsApproval(t, c, of.Id)
			previous := of.PreviousDeployment.Id
			version := w.GraphQL(t, token, versionOf, map[string]any{"id": previous})
			readsForm(t, c, of.Id, version.Text(t, "data", "deployment", "moduleVersion", "id"), previous)
		})
	}
}

func readsScreensOfTheOrganization(t *testing.T, c graphql.Client) {
	t.Helper()
	ctx := t.Context()
	shows(t, "home", answer(delivery.HomeScreen(ctx, c))(t).Projects.Nodes)
	module := answer(delivery.ModuleScreen(ctx, c, "aws/ecs-service"))(t).ModuleDefinition
	shows(t, "module", module.LatestModuleVersion.Inputs)
	shows(t, "audit", answer(delivery.AuditScreen(ctx, c, nil, nil))(t).AuditEvents.Nodes)
	shows(t, "runners", answer(delivery.RunnersScreen(ctx, c))(t).Runners.Nodes)
	shows(t, "figures", answer(delivery.FiguresScreen(ctx, c, weekAgo()))(t).Projects.Nodes)
}

func readsScreensOfAnEnvironment(t *testing.T, c graphql.Client) {
	t.Helper()
	ctx := t.Context()
	of := answer(delivery.EnvironmentScreen(ctx, c, environment, nil, nil))(t).Environment
	shows(t, "environment", of.ModuleInstances.Nodes)
	shows(t, "graph", answer(delivery.GraphScreen(ctx, c, environment))(t).Environment.ModuleInstances.Nodes)
	shows(t, "lanes", answer(delivery.LanesScreen(ctx, c, environment, weekAgo()))(t).Environment.Deployments.Nodes)
}

// readsScreensOfAnInstance returns the instance.
func readsScreensOfAnInstance(t *testing.T, c graphql.Client) *delivery.InstanceScreenModuleInstance {
	t.Helper()
	ctx := t.Context()
	of := answer(delivery.InstanceScreen(ctx, c, instance))(t).ModuleInstance
	shows(t, "instance", of.PreviousDeployment.ChangesFromLive.Inputs)
	shows(t, "timeline", answer(delivery.TimelineScreen(ctx, c, of.Id, nil, nil))(t).ModuleInstance.Deployments.Nodes)
	shows(t, "deployment", answer(delivery.DeploymentScreen(ctx, c, of.PreviousDeployment.Id))(t).Deployment.Events)
	return of
}

// readsApproval reads the screen of what awaits approval in an instance.
func readsApproval(t *testing.T, c graphql.Client, instanceID string) {
	t.Helper()
	ctx := t.Context()
	filter := &delivery.DeploymentFilter{Statuses: []delivery.DeploymentStatus{delivery.DeploymentStatusAwaitingApproval}}
	waiting := answer(delivery.TimelineScreen(ctx, c, instanceID, filter, nil))(t).ModuleInstance.Deployments.Nodes
	if len(waiting) != 1 {
		t.Fatalf("%d deployments await approval, want 1", len(waiting))
	}
	shows(t, "approve", answer(delivery.ApproveScreen(ctx, c, waiting[0].Id))(t).Deployment.Requirements)
}

// readsForm reads the screen that deploys a version with the inputs of another deployment.
func readsForm(t *testing.T, c graphql.Client, instanceID, versionID, from string) {
	t.Helper()
	form := answer(delivery.DeployScreen(t.Context(), c, instanceID, versionID,
		&delivery.InputValuesInput{ModuleVersionId: &versionID, ModuleInstanceId: &instanceID, InputsFromDeploymentId: &from},
		&delivery.DeploymentPlanInput{Create: &delivery.CreateDeploymentInput{
			ModuleInstanceId: instanceID, ModuleVersionId: versionID, InputsFromDeploymentId: &from,
		}},
	))(t)
	shows(t, "deploy", form.ModuleVersion.Inputs)
	shows(t, "deploy", form.DeploymentPlan.InputChanges)
}
