package demo

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"

	"slipway/web"
)

//go:embed examples/*.graphql
var exampleFiles embed.FS

// examples are the requests that the explorer offers, with the ids of this database.
func (d *demo) examples(context.Context) error {
	type variables map[string]any
	for _, e := range []struct {
		name, file string
		variables  variables
		tab        bool
	}{
		{"Module catalogue", "catalogue", nil, true},
		{"A deployment with its data", "deployment", variables{"id": d.result.LiveDeploymentID}, true},
		{"Roll back", "rollback", variables{"id": d.result.RollbackTargetID}, true},
		{"Live updates: follow a deployment while it runs", "follow", variables{"id": d.result.FollowedDeploymentID}, true},
		{"Logs: what its program prints", "logs", variables{"id": d.result.FollowedDeploymentID}, true},
		{"Default value definitions: every kind of input", "definitions", nil, true},
		{"Live updates: every deployment that changes", "changes", nil, false},
		{"Projects, environments and what runs in them", "places", variables{"projects": 5}, false},
		{"What failed lately, and why", "failures", variables{"filter": map[string]any{"status": "FAILED"}}, false},
		{"Redeploy", "redeploy", variables{"id": d.result.FailedDeploymentID}, false},
		{"Deploy, and see it fail", "deploy", variables{"input": d.brokenRelease()}, false},
		{"Change a default value definition", "update-definition", variables{"input": map[string]any{
			"id":          d.result.DefaultValueDefinitionID,
			"description": "How long logs are kept, in days. Ask the platform team for more.",
		}}, false},
		{"As GET /module-definitions", "rest-module-definitions", variables{"limit": 20, "status": "ACTIVE"}, false},
		{"As GET /deployments/{id}", "rest-deployment", variables{"id": d.result.LiveDeploymentID}, false},
	} {
		query, err := exampleFiles.ReadFile("examples/" + e.file + ".graphql")
		if err != nil {
			return err
		}
		example := web.Example{Name: e.name, Query: string(query), Tab: e.tab}
		if e.variables != nil {
			text, err := json.MarshalIndent(e.variables, "", "  ")
			if err != nil {
				return fmt.Errorf("demo: the example %s: %w", e.name, err)
			}
			example.Variables = string(text)
		}
		d.result.Examples = append(d.result.Examples, example)
	}
	return nil
}

// brokenRelease is the input of a deployment that the live runner lets fail.
func (d *demo) brokenRelease() map[string]any {
	s := d.serviceAt(placeToBreak)
	image := fmt.Sprint(s.inputs["image"], ":3.0.0-broken")
	inputs := maps.Clone(s.inputs)
	inputs["image"] = image
	return map[string]any{
		"moduleInstanceId": s.instanceID, "moduleVersionId": d.published[s.module].versions[s.version].id,
		"description": "3.0.0: Post entries in batches",
		"inputs":      inputs,
		"artifact": map[string]any{"definition": map[string]any{
			"family": s.family(), "containerDefinitions": []any{map[string]any{"name": s.name, "image": image}},
		}},
	}
}
