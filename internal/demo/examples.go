package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"slipway/web"
)

// exampleFile is an example as demo.json has it: its query is a file of the folder examples, and a text of its
// variables such as "@live" stands for something of this database.
type exampleFile struct {
	Name, Query string
	Variables   json.RawMessage
	Tab         bool
}

// examples are the requests that the explorer offers.
func (d *demo) examples(context.Context) error {
	broken, err := json.Marshal(d.brokenRelease())
	if err != nil {
		return fmt.Errorf("demo: the broken release: %w", err)
	}

	known := strings.NewReplacer(
		"@live", d.result.LiveDeploymentID, "@target", d.result.RollbackTargetID,
		"@followed", d.result.FollowedDeploymentID, "@failed", d.result.FailedDeploymentID,
		"@awaiting", d.result.AwaitingDeploymentID,
		"@archived", d.result.ArchivedInstanceID, "@definition", d.result.DefaultValueDefinitionID, `"@broken"`,
		string(broken),
	)

	for _, e := range d.Examples {
		query, err := files.ReadFile("examples/" + e.Query + ".graphql")
		if err != nil {
			return err
		}

		var variables bytes.Buffer
		if e.Variables != nil {
			if err := json.Indent(&variables, []byte(known.Replace(string(e.Variables))), "", "  "); err != nil {
				return fmt.Errorf("demo: the example %s: %w", e.Name, err)
			}
		}

		d.result.Examples = append(d.result.Examples, web.Example{
			Name: e.Name, Query: string(query), Variables: variables.String(), Tab: e.Tab,
		})
	}

	return nil
}

// brokenRelease is the input of a deployment that the live runner lets fail.
func (d *demo) brokenRelease() map[string]any {
	s := d.serviceAt(d.Shown.Broken)
	image := fmt.Sprint(s.Inputs["image"], ":3.0.0-broken")
	inputs := maps.Clone(s.Inputs)
	inputs["image"] = image
	return map[string]any{
		"moduleInstanceId": s.instanceID, "moduleVersionId": d.published[s.Module].versions[s.Version].id,
		"description": "3.0.0: Post entries in batches",
		"inputs":      inputs,
		"artifact": map[string]any{"definition": map[string]any{
			"family": s.family(), "containerDefinitions": []any{map[string]any{"name": s.Name, "image": image}},
		}},
	}
}
