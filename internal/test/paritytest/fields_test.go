package paritytest_test

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// Both surfaces are compared in what is asked of GraphQL: a property of a record that it is not asked for would be compared
// only where a record has a value of it.
func TestEveryPropertyOfARecordIsAskedOfGraphQL(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../rest/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var contract struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(text, &contract); err != nil {
		t.Fatal(err)
	}
	for name, fields := range map[string]string{
		"Deployment": deploymentFields, "DefaultValueDefinition": definitionFields, "ModuleDefinition": moduleFields,
	} {
		properties := contract.Components.Schemas[name].Properties
		if len(properties) < 8 {
			t.Errorf("only %d properties of %s", len(properties), name)
		}
		for property := range properties {
			if !regexp.MustCompile(`(^|\s)` + property + `\b`).MatchString(fields) {
				t.Errorf("the fields of %s lack %s", name, property)
			}
		}
	}
}
