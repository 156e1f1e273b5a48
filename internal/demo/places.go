package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/archive"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/workspace"
)

type projectFile struct {
	Name, Slug   string
	Environments []environmentFile
}

type environmentFile struct {
	Name, Slug string
	Instances  []instanceFile
}

// instanceFile is an instance and the values of its inputs; a text such as "@network" stands for the id
// of the instance of that name in the same environment, which comes before.
type instanceFile struct {
	Name, Module, Version string
	// Earlier is the version of the instance's first deployments, where it was another one.
	Earlier string
	// History has the names of the moves of a container service.
	History []string
	Inputs  map[string]any
	// Own are the inputs that promotions leave as they are.
	Own []string
	// Archived instances were taken out of use, and of destroyed ones nothing is there any more.
	Archived, Destroyed bool
}

// places makes the projects, the environments and what is in them.
func (d *demo) places(ctx context.Context) error {
	for _, p := range d.Projects {
		d.clock.pass(5 * time.Minute)
		made, err := d.Workspace.CreateProject(d.as(ctx, admin), workspace.NewProject{Name: p.Name, Slug: p.Slug})
		if err != nil {
			return err
		}

		for _, e := range p.Environments {
			d.clock.pass(5 * time.Minute)
			in := workspace.NewEnvironment{ProjectID: made.ID, Name: e.Name, Slug: e.Slug}
			environment, err := d.Workspace.CreateEnvironment(d.as(ctx, admin), in)
			if err != nil {
				return err
			}
			d.environments[p.Slug+"/"+e.Slug] = environment.ID
			if err := d.furnish(ctx, p.Slug, environment.ID, e); err != nil {
				return fmt.Errorf("demo: %s/%s: %w", p.Slug, e.Slug, err)
			}
		}
	}

	return nil
}

// furnish makes the instances of an environment and deploys those that are no container services.
func (d *demo) furnish(ctx context.Context, project, environmentID string, e environmentFile) error {
	ids := map[string]string{}
	for _, in := range e.Instances {
		d.clock.pass(2 * time.Minute)
		m := d.published[in.Module]
		made, err := d.Catalog.CreateInstance(d.as(ctx, developer), catalog.NewInstance{
			EnvironmentID: environmentID, DefinitionID: m.id, Name: in.Name,
		})
		if err != nil {
			return err
		}

		ids[in.Name] = made.ID
		if in.Own != nil {
			if _, err := d.Catalog.UpdateInstance(
				d.as(ctx, admin), made.ID, catalog.InstancePatch{OwnInputs: &in.Own},
			); err != nil {
				return fmt.Errorf("%s: %w", in.Name, err)
			}
		}

		for name, value := range in.Inputs {
			if text, ok := value.(string); ok && strings.HasPrefix(text, "@") {
				in.Inputs[name] = ids[text[1:]]
			}
		}

		if m.kind == module.DeploymentTypeECS {
			d.services = append(d.services, newService(made.ID, project, e.Slug, in))
			continue
		}
		if err := d.provision(ctx, made.ID, in, m.versions[in.Version].id, project+"-"+e.Slug+"-"+in.Name); err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
		if err := d.retire(ctx, made.ID, in); err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
	}

	return nil
}

// retire destroys what an instance has live, and takes it out of use, if that is how it stands.
func (d *demo) retire(ctx context.Context, instanceID string, in instanceFile) error {
	if in.Destroyed {
		if err := d.destroy(ctx, instanceID); err != nil {
			return err
		}
	}
	if !in.Archived {
		return nil
	}
	d.clock.pass(time.Hour)
	_, err := d.Archive.ArchiveInstance(d.as(ctx, admin), archive.Request{ID: instanceID, AcknowledgeLive: true})
	d.result.ArchivedInstanceID = instanceID
	return err
}

// provision deploys an instance of a terraform module, which succeeds.
func (d *demo) provision(ctx context.Context, instanceID string, in instanceFile, versionID, place string) error {
	text, err := json.Marshal(in.Inputs)
	if err != nil {
		return err
	}
	values, err := strictjson.Parse(text)
	if err != nil {
		return err
	}

	created, _, err := d.Deploy.Propose.Create(d.as(ctx, developer), propose.New{
		InstanceID: instanceID, VersionID: versionID, Inputs: values, ResourceName: &place,
	})
	if err != nil {
		return err
	}

	d.deployments++
	lease, err := d.claim(ctx, created.ID)
	if err != nil {
		return err
	}
	p := &provisioning{
		chance: d.chance, tempo: d.leaping(), deploy: d.Deploy, deploymentID: created.ID, leaseID: lease, first: true,
	}
	if p.outputs, err = made(in.Module, place); err != nil {
		return err
	}
	return p.run(d.as(ctx, runner))
}

// destroy removes what an instance of a terraform module has live.
func (d *demo) destroy(ctx context.Context, instanceID string) error {
	d.clock.pass(time.Hour)
	created, _, err := d.Deploy.Propose.Destroy(d.as(ctx, admin), propose.Destroy{
		InstanceID: instanceID, Request: admission.Request{Reason: new("The exports are written to the data lake now.")},
	})
	if err != nil {
		return err
	}
	d.deployments++
	lease, err := d.claim(ctx, created.ID)
	if err != nil {
		return err
	}
	p := &provisioning{
		chance: d.chance, tempo: d.leaping(), deploy: d.Deploy, deploymentID: created.ID, leaseID: lease, destroys: true,
	}
	return p.run(d.as(ctx, runner))
}

// bothActions are those that the demo's runner carries out.
var bothActions = []state.Action{state.Apply, state.DestroyAction}

// claim lets the runner take a deployment, the only one that waits, and returns the id of the lease.
func (d *demo) claim(ctx context.Context, deploymentID string) (leaseID string, err error) {
	d.clock.pass(d.between(2, 20))
	claimed, lease, err := d.Deploy.Execution.Claim(
		d.as(ctx, runner), execution.Claim{Kinds: module.DeploymentTypes, Actions: bothActions},
	)
	if err != nil {
		return "", err
	}
	if claimed == nil || claimed.ID != deploymentID {
		return "", fmt.Errorf("demo: %s was to be claimed, got %v", deploymentID, claimed)
	}
	return lease.ID, nil
}
