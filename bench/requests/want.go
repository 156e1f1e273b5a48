package requests

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"slipway/bench/data"
	"slipway/internal/base/id"
)

type object = map[string]any

func wantDeployment(w data.World, number int) any {
	return object{"deployment": deploymentFields(w.Deployment(number))}
}

// deploymentFields are what A asks for.
func deploymentFields(d data.Deployment) object {
	return object{
		"id": d.ID(), "organizationId": data.ID(id.Organization, data.OrganizationOf(d.Environment)),
		"projectId":        data.ID(id.Project, data.ProjectOf(d.Environment)),
		"environmentId":    data.ID(id.Environment, d.Environment),
		"moduleInstanceId": d.Instance().ID(), "deploymentType": data.DeploymentType, "triggerSource": d.TriggerSource(),
		"description": d.Description(), "startedAt": d.StartedAt(), "completedAt": d.CompletedAt(),
		"resourceName": d.ResourceName(),
		"createdAt":    d.CreatedAt(),
	}
}

func wantDeploymentOfREST(w data.World, number int) any {
	d := w.Deployment(number)
	fields := partOf(deploymentFields(d))
	fields["data"] = json.RawMessage(d.Data())
	return fields
}

func wantData(w data.World, number int) any {
	d := w.Deployment(number)
	return object{"deployment": object{"id": d.ID(), "dataJson": json.RawMessage(d.Data())}}
}

func wantPage(w data.World, environment int) any {
	return object{"deployments": connection(newest(w, environment, pageSize), w.Of(environment) > pageSize)}
}

// connection is what C asks for.
func connection(deployments []data.Deployment, hasNextPage bool) object {
	edges := []any{}
	for _, d := range deployments {
		var target any
		if to, ok := d.RollbackTo(); ok {
			target = object{"id": to.ID(), "createdAt": to.CreatedAt()}
		}
		edges = append(edges, object{"cursor": anyText{}, "node": object{
			"id": d.ID(), "deploymentType": data.DeploymentType, "triggerSource": d.TriggerSource(), "createdAt": d.CreatedAt(),
			"moduleInstance": object{"id": d.Instance().ID(), "name": d.Instance().Name()}, "rollbackTo": target,
		}})
	}
	return object{"edges": edges, "pageInfo": pageInfo(hasNextPage)}
}

func pageInfo(hasNextPage bool) object {
	return object{"hasNextPage": hasNextPage, "endCursor": anyText{}}
}

// newest returns the newest deployments of an environment, so many at most.
func newest(w data.World, environment, most int) (all []data.Deployment) {
	for place := w.Of(environment) - 1; place >= 0 && len(all) < most; place-- {
		all = append(all, w.At(environment, place))
	}
	return all
}

// definitions are what each organization sees of the module definitions, the newest first.
var definitions = func() (of [data.Organizations][]data.Definition) {
	all := make([]data.Definition, data.Definitions)
	for i := range all {
		all[i] = data.Definition(i)
	}
	slices.SortFunc(all, func(a, b data.Definition) int { return b.CreatedAt().Compare(a.CreatedAt()) })
	for o := range of {
		for _, d := range all {
			if owner, ok := d.Organization(); !ok || owner == o {
				of[o] = append(of[o], d)
			}
		}
	}
	return of
}()

func definitionFields(d data.Definition) object {
	latest, latestID := d.LatestVersion()
	fields := object{
		"id": d.ID(), "name": d.Name(), "description": d.Description(), "type": d.Type(), "createdAt": d.CreatedAt(),
		"updatedAt": d.CreatedAt(), "latestVersion": latest, "latestVersionId": latestID, "organizationId": nil,
	}
	if owner, ok := d.Organization(); ok {
		fields["organizationId"] = data.ID(id.Organization, owner)
	}
	return fields
}

func wantDefinitions(_ data.World, organization int) any {
	edges := []any{}
	for _, d := range definitions[organization][:pageSize] {
		edges = append(edges, object{"cursor": anyText{}, "node": definitionFields(d)})
	}
	return object{"moduleDefinitions": object{"edges": edges, "pageInfo": pageInfo(true)}}
}

func wantDefinitionsOfREST(_ data.World, organization int) any {
	records := []any{}
	for _, d := range definitions[organization][:pageSize] {
		fields := definitionFields(d)
		if fields["organizationId"] == nil {
			delete(fields, "organizationId")
		}
		records = append(records, fields)
	}
	return records
}

// rollbackDescription is what a rollback to a deployment says.
func rollbackDescription(target data.Deployment) string {
	return fmt.Sprintf("Rollback to %s: version %s, succeeded at %s, started by %s", target.ID(), target.Version(),
		target.CompletedAt().Format(time.RFC3339), target.CreatedBy())
}

func wantRollback(w data.World, number int) any {
	target := w.Deployment(number)
	return object{"rollbackDeployment": object{"deployment": object{
		"id": newID(id.Deployment), "description": rollbackDescription(target), "createdAt": now{},
		"rollbackTo": object{"id": target.ID()},
	}}}
}

func wantRollbackOfREST(w data.World, number int) any {
	target := w.Deployment(number)
	return partOf(object{
		"id": newID(id.Deployment), "description": rollbackDescription(target), "createdAt": now{},
		"rollbackToDeploymentId": target.ID(),
		"moduleInstanceId":       target.Instance().ID(), "triggerSource": "rollback",
	})
}

// The lengths of the lists of a screen.
const (
	screenSize  = 10
	screenOfOne = 5
)

func wantScreen(w data.World, number int) any {
	i := data.InstanceOf(number)
	e, owner := i.Environment, data.OrganizationOf(i.Environment)
	environments := []any{}
	for _, of := range slices.Backward(data.EnvironmentsOf(data.ProjectOf(e))) {
		environments = append(environments, object{"id": data.ID(id.Environment, of), "name": data.EnvironmentName(of)})
	}

	instances := []any{}
	for index := data.InstancesPerEnvironment - 1; len(instances) < screenSize; index-- {
		instances = append(instances, screenInstance(w, data.Instance{Environment: e, Index: index}))
	}

	deployments := []any{}
	for _, d := range newest(w, e, screenSize) {
		deployments = append(deployments, object{
			"id": d.ID(), "status": d.Status(), "createdAt": d.CreatedAt(), "createdBy": object{"name": d.CreatedBy()},
			"moduleInstance": object{"name": d.Instance().Name()},
		})
	}

	info := pageInfo(w.Of(e) > screenSize)
	if len(deployments) == 0 {
		info["endCursor"] = nil
	}

	return object{
		"viewer": object{"name": data.TokenName(owner), "role": "DEVELOPER", "organization": object{
			"name": data.OrganizationName(owner), "slug": data.OrganizationSlug(owner),
		}},
		"project":         object{"id": data.ID(id.Project, data.ProjectOf(e)), "name": data.ProjectName(data.ProjectOf(e))},
		"environments":    object{"nodes": environments},
		"moduleInstances": object{"nodes": instances},
		"deployments":     object{"nodes": deployments, "pageInfo": info},
		"moduleInstance": object{
			"id": i.ID(), "name": i.Name(), "environment": object{"name": data.EnvironmentName(e)},
			"deployments": object{"nodes": ended(w, i)},
		},
	}
}

func screenInstance(w data.World, i data.Instance) object {
	var live any
	if d, ok := w.Live(i); ok {
		live = object{"id": d.ID(), "status": d.Status(), "completedAt": d.CompletedAt()}
	}
	definition := data.Definition(i.Definition())
	return object{
		"id": i.ID(), "name": i.Name(), "liveDeployment": live,
		"moduleDefinition": object{"name": definition.Name(), "type": definition.Type()},
	}
}

// ended returns the newest deployments of an instance.
func ended(w data.World, i data.Instance) []any {
	nodes := []any{}
	for place := w.Of(i.Environment) - 1; place >= 0 && len(nodes) < screenOfOne; place-- {
		if d := w.At(i.Environment, place); d.Instance() == i {
			nodes = append(nodes, object{"id": d.ID(), "status": d.Status(), "completedAt": d.CompletedAt()})
		}
	}
	return nodes
}
