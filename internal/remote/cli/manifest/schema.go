package manifest

import (
	"bytes"
	"encoding/json"
	"reflect"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/pure/output"
)

const dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema returns the JSON Schema of manifests, for editors. Of an input it says what the schema of inputs says.
func Schema() []byte {
	var inputs struct {
		Defs  map[string]any `json:"$defs"`
		OneOf []any          `json:"oneOf"`
	}
	if err := json.Unmarshal(inputprop.JSONSchema(), &inputs); err != nil {
		panic("manifest: " + err.Error())
	}
	inputs.Defs["InputProperty"] = map[string]any{"description": "An input of the module.", "oneOf": inputs.OneOf}
	root := object(reflect.TypeFor[form]())
	properties := root["properties"].(map[string]any)
	properties["deploymentType"].(map[string]any)["enum"] = module.DeploymentTypes
	properties["inputs"].(map[string]any)["items"] = map[string]any{"$ref": "#/$defs/InputProperty"}
	properties["outputs"].(map[string]any)["maxItems"] = output.MaxCount
	root["$schema"], root["title"], root["$defs"] = dialect, "Slipway module", inputs.Defs
	return text(root)
}

// sentences describe the members of a manifest.
var sentences = map[string]string{ // #nosec G101 -- no credentials
	"slipway":        "The format of this file.",
	"type":           "The module type, such as acme/queue. References and commands use it.",
	"name":           "The name for people.",
	"description":    "The purpose of the module.",
	"version":        "The semantic version to publish, such as 1.4.0; the flag --version overrides it.",
	"deploymentType": "What carries a deployment out.",
	"source": "Where the program is kept; left out, it is git's remote origin, " +
		"the commit and the folder of this file.",
	"url":                  "The repository.",
	"ref":                  "The branch, tag or commit.",
	"path":                 "The folder of the program in the repository; without url, below the folder of this file.",
	"inputs":               "The inputs of a deployment, in the order of the form.",
	"outputs":              "What a deployment reports that it has made.",
	"declared.name":        "The name of the output.",
	"declared.secret":      "Whether the output is a secret, which is not kept.",
	"declared.description": "What the output is, for people.",
}

// object is the schema of a struct that strictjson decodes.
func object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, m := range strictjson.Members(t) {
		schema := typed(t.FieldByIndex(m.Path).Type, m.Rules)
		schema["description"] = sentences[m.Name]
		if own, ok := sentences[t.Name()+"."+m.Name]; ok {
			schema["description"] = own
		}
		properties[m.Name] = schema
		if m.Rules.Required {
			required = append(required, m.Name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func typed(t reflect.Type, r *strictjson.Rules) map[string]any {
	switch {
	case t == reflect.TypeFor[*strictjson.Node]():
		return map[string]any{"type": "array"}
	case t.Kind() == reflect.Pointer:
		return typed(t.Elem(), r)
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": object(t.Elem())}
	case t.Kind() == reflect.Struct:
		return object(t)
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case len(r.Enum) == 1:
		return map[string]any{"type": "string", "const": r.Enum[0]}
	default:
		return map[string]any{"type": "string"}
	}
}

// text returns a schema as JSON.
func text(schema map[string]any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(schema); err != nil {
		panic("manifest: " + err.Error())
	}
	return b.Bytes()
}
