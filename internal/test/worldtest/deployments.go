package worldtest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/workspace"
)

// Fixture is an instance of a module, and all that it stands on.
type Fixture struct {
	Project     *ent.Project
	Environment *ent.Environment
	Definition  *ent.ModuleDefinition
	Version     *ent.ModuleVersion
	Instance    *ent.ModuleInstance

	w   *World
	org *Org
}

// Inputs are those of the module version of a Fixture.
const Inputs = `[
	{"id":"image","type":"string","label":"Image","required":true},
	{"id":"replicas","type":"number","label":"Replicas","default":2,"min":1,"max":50}
]`

// Artifact is a task definition.
const Artifact = `{"arn":"arn:aws:ecs:eu-west-1:123456789012:task-definition/web:7","revision":7,
	"definition":{"family":"web","containerDefinitions":[{"name":"web","image":"registry.example/web:1.4.2","cpu":256}]}}`

// Data is what is known of an aws:ecs deployment beforehand. An organization's service is one instance's: see DataOf.
const Data = `{"clusterArn":"arn:aws:ecs:eu-west-1:123456789012:cluster/main",` +
	`"serviceArn":"arn:aws:ecs:eu-west-1:123456789012:service/main/web","preDeployEnabled":true,"postDeployEnabled":false}`

// DataOf returns Data for an instance of an organization: the first that asks has the service of Data, each other one
// its own.
func (w *World) DataOf(o *Org, instanceID string) string {
	if first, _ := w.services.LoadOrStore(o.ID, instanceID); first == instanceID {
		return Data
	}
	return strings.Replace(Data, "service/main/web", "service/main/"+instanceID, 1)
}

// Fixture makes an organization a project, an environment, an aws:ecs module with a version and an
// instance of it. name tells places of one organization apart.
func (w *World) Fixture(t testing.TB, o *Org, name string) *Fixture {
	t.Helper()
	admin := o.As(actor.Admin)
	p := &Fixture{w: w, org: o}
	var err error
	if p.Project, err = w.Workspace.CreateProject(admin, workspace.NewProject{Name: name, Slug: name}); err != nil {
		t.Fatal(err)
	}

	if p.Environment, err = w.Workspace.CreateEnvironment(
		admin, workspace.NewEnvironment{ProjectID: p.Project.ID, Name: "Production", Slug: "production"},
	); err != nil {
		t.Fatal(err)
	}

	if p.Definition, _, err = w.Catalog.CreateDefinition(
		admin, catalog.NewDefinition{Name: name, Type: name, Status: moduledefinition.StatusACTIVE},
	); err != nil {
		t.Fatal(err)
	}

	if p.Version, _, err = w.Catalog.PublishVersion(admin, module.NewVersion{
		DefinitionID: p.Definition.ID, Version: "1.4.0", Kind: module.DeploymentTypeECS, Inputs: strictjson.MustParse(Inputs),
	}); err != nil {
		t.Fatal(err)
	}

	p.Instance = p.NewInstance(t, "web")
	return p
}

// NewInstance makes one more instance of the place's module.
func (p *Fixture) NewInstance(t testing.TB, name string) *ent.ModuleInstance {
	t.Helper()
	i, err := p.w.Catalog.CreateInstance(p.org.As(actor.Admin), catalog.NewInstance{
		EnvironmentID: p.Environment.ID, DefinitionID: p.Definition.ID, Name: name,
	})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Deploy makes a PENDING deployment of an instance; inputs is a JSON object.
func (p *Fixture) Deploy(t testing.TB, instanceID, inputs string) *ent.Deployment {
	t.Helper()
	p.w.canaries.noteValue(inputs)
	p.w.canaries.noteValue(Artifact)
	d, _, err := p.w.Deploy.Propose.Create(p.org.As(actor.Developer), propose.New{
		InstanceID: instanceID, VersionID: p.Version.ID,
		Inputs: strictjson.MustParse(inputs), Artifact: strictjson.MustParse(Artifact),
		Data: strictjson.MustParse(p.w.DataOf(p.org, instanceID)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Reportable returns a deployment's data without what Slipway fills by itself, which no runner may change.
func Reportable(data json.RawMessage) *strictjson.Node {
	filled := []string{"triggeredBy", "triggerChannel", "deployedTaskDefinition", "previousTaskDefinition"}
	all, rest := strictjson.MustParse(string(data)), &strictjson.Node{Kind: strictjson.Object}
	for i, key := range all.Keys {
		if !slices.Contains(filled, key) {
			rest.Append(key, all.Items[i])
		}
	}
	return rest
}

// Succeeded makes a deployment of the place's instance that has succeeded.
func (p *Fixture) Succeeded(t testing.TB) *ent.Deployment {
	t.Helper()
	return p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:1.4.2"}`), nil)
}

// Failed makes a deployment of the place's instance that has failed.
func (p *Fixture) Failed(t testing.TB) *ent.Deployment {
	t.Helper()
	return p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:broken"}`), &fault.Data{
		Code: string(fault.DeploymentFailed), Message: "The task did not start.",
	})
}

// Finish claims and completes a PENDING deployment, which must be the only one that waits.
func (p *Fixture) Finish(t testing.TB, d *ent.Deployment, failure *fault.Data) *ent.Deployment {
	t.Helper()
	runner := p.org.As(actor.Runner)
	done, err := p.w.Deploy.Execution.End(runner, d.ID, p.Claim(t, d), execution.Completion{Failure: failure})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// Cancel cancels an organization's deployment, and has its program end if one is at work.
func (w *World) Cancel(t testing.TB, o *Org, deploymentID string) *ent.Deployment {
	t.Helper()
	d, err := w.Deploy.Execution.Cancel(o.As(actor.Developer), deploymentID, nil)
	if err == nil && d.CompletedAt == nil {
		d, err = w.Deploy.Execution.End(o.As(actor.Runner), deploymentID, *d.LeaseID, execution.Completion{Canceled: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// LeaseOf returns the id of the lease that an organization's deployment was claimed under, "" for none.
func (w *World) LeaseOf(o *Org, deploymentID string) string {
	d, err := w.Store.Client.Deployment.Get(o.As(actor.Viewer), deploymentID)
	if err != nil || d.LeaseID == nil {
		return ""
	}
	return *d.LeaseID
}

// Claim claims a PENDING deployment, which must be the only one that waits, and returns the id of the lease.
func (p *Fixture) Claim(t testing.TB, d *ent.Deployment) (leaseID string) {
	t.Helper()
	claimed, lease, err := p.w.Deploy.Execution.Claim(
		p.org.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes},
	)
	if err != nil {
		t.Fatal(err)
	}
	if claimed == nil || claimed.ID != d.ID {
		t.Fatalf("claimed %v, want %s", claimed, d.ID)
	}
	return lease.ID
}

// Replaying is a rollback or a redeploy.
type Replaying func(context.Context, propose.Replay) (*ent.Deployment, []inputprop.Warning, error)

// Unwarned returns what a service of deployments has made, without its warnings.
func Unwarned(d *ent.Deployment, _ []inputprop.Warning, err error) (*ent.Deployment, error) {
	return d, err
}
