package manifest

import (
	"encoding/json"
	"math"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// ValuesSchema returns the JSON Schema of values for inputs, for editors: what each variant takes by itself. Conditions
// and what only a server knows it leaves to a server.
func ValuesSchema(inputs []inputprop.Property) []byte {
	schema := levelSchema(inputprop.NewLevel(inputs))
	schema["$schema"], schema["title"] = dialect, "Values"
	return text(schema)
}

// levelSchema is the schema of the values of a level.
func levelSchema(level *inputprop.Level) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, in := range level.Inputs {
		if in.Traits.NoValue {
			continue
		}
		properties[in.ID] = inputSchema(in)
		isGiven := in.Initial().InitialValue != (inputprop.InitialValue{}) || in.Owner != nil
		if in.Traits.Required && !isGiven && len(in.Conditions) == 0 {
			required = append(required, in.ID)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// inputSchema is the schema of an input's value, which may be null if it may be left empty.
func inputSchema(in *inputprop.LevelInput) map[string]any {
	schema := valueSchema(in)
	if !in.Traits.Required && !in.Traits.NotNull {
		schema = map[string]any{"anyOf": []any{schema, map[string]any{"type": "null"}}}
	}
	head := in.Property.Head()
	schema["title"] = head.Label
	if head.Description != nil {
		schema["description"] = *head.Description
	}
	if initial := in.Initial(); initial.Node != nil && !initial.Templated {
		schema["default"] = initial.Node.JSON()
	}
	return schema
}

func valueSchema(in *inputprop.LevelInput) map[string]any {
	switch p := in.Property.(type) {
	case *inputprop.StringProperty:
		return chosen(p, nonempty(p.IsRequired(), textSchema(p.Patterns, true)))
	case *inputprop.TextProperty:
		return nonempty(p.IsRequired(), textSchema(p.Patterns, true))
	case *inputprop.GitRepoProperty:
		return nonempty(p.IsRequired(), textSchema(nil, true))
	case *inputprop.NumberProperty:
		return chosen(p, numberSchema(p))
	case *inputprop.BooleanProperty:
		return map[string]any{"type": "boolean"}

	case *inputprop.StringArrayProperty:
		items := textSchema(p.Patterns, false)
		return filled(p.IsRequired(), "minItems", map[string]any{"type": "array", "items": chosen(p, items)})
	case *inputprop.ObjectProperty:
		return map[string]any{"type": "object"}
	case *inputprop.ArrayProperty:
		return map[string]any{"type": "array"}

	case *inputprop.KeyValueProperty:
		return filled(p.IsRequired(), "minProperties", map[string]any{
			"type": "object", "additionalProperties": textSchema(nil, false),
		})
	case *inputprop.ObjectMapProperty:
		return filled(p.IsRequired(), "minProperties", map[string]any{
			"type": "object", "additionalProperties": levelSchema(in.Items()),
		})
	case *inputprop.ObjectArrayProperty:
		return filled(p.IsRequired(), "minItems", map[string]any{"type": "array", "items": levelSchema(in.Items())})
	case *inputprop.CompoundProperty:
		return chosen(p, compoundSchema(p))

	case *inputprop.ReferenceProperty:
		return map[string]any{
			"type": "string", "minLength": 1, "examples": []string{"./name", "../environment/name", "project/environment/name"},
		}
	case *inputprop.SectionProperty: // which never has a value
	}

	return map[string]any{}
}

// textSchema is the schema of a text. If mayBeEmpty is set, an empty one need match no pattern.
func textSchema(patterns []inputprop.ValidationPattern, mayBeEmpty bool) map[string]any {
	schema := map[string]any{"type": "string", "maxLength": inputprop.MaxText}
	if len(patterns) == 0 {
		return schema
	}
	var all []any
	for _, p := range patterns {
		all = append(all, map[string]any{"pattern": p.Pattern, "errorMessage": p.Message})
	}
	if mayBeEmpty {
		schema["anyOf"] = []any{map[string]any{"const": ""}, map[string]any{"allOf": all}}
	} else {
		schema["allOf"] = all
	}
	return schema
}

func nonempty(required bool, schema map[string]any) map[string]any {
	return filled(required, "minLength", schema)
}

// filled demands at least one of what a member counts.
func filled(required bool, member string, schema map[string]any) map[string]any {
	if required {
		schema[member] = 1
	}
	return schema
}

func numberSchema(p *inputprop.NumberProperty) map[string]any {
	schema := map[string]any{"type": "integer", "minimum": math.MinInt32, "maximum": math.MaxInt32}
	if p.Min != nil {
		schema["minimum"] = *p.Min
	}
	if p.Max != nil {
		schema["maximum"] = *p.Max
	}
	return schema
}

func compoundSchema(p *inputprop.CompoundProperty) map[string]any {
	fields := map[string]any{}
	for _, name := range p.Fields {
		fields[name] = map[string]any{"type": []string{"string", "integer", "boolean"}}
	}
	return map[string]any{"type": "object", "properties": fields, "required": p.Fields, "additionalProperties": false}
}

// chosen allows the values that a property has to choose from, if it has them itself.
func chosen(p inputprop.Property, schema map[string]any) map[string]any {
	static, ok := p.ValueSource().(*inputprop.StaticValues)
	if !ok {
		return schema
	}
	allowed := []json.RawMessage{}
	seen := strictjson.Set{}
	for _, o := range static.Options {
		value := inputprop.ChosenValue(p, o)
		if seen.Has(value) {
			continue
		}
		seen[strictjson.Key(value)] = struct{}{}
		allowed = append(allowed, value.JSON())
	}
	schema["enum"] = allowed
	return schema
}
