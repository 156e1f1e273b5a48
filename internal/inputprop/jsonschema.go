package inputprop

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"slipway/internal/strictjson"
)

// JSONSchema describes a property in JSON Schema 2020-12, for editors. It says what each member is by
// itself; the rules over several members it leaves to Check.
func JSONSchema() []byte {
	d := describer{defs: map[string]any{}}
	root := map[string]any{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       "InputProperty",
		"description": "An input of a module, or the schema of a default value definition.",
		"oneOf":       d.variants(),
	}
	d.mapped = true
	d.defs["MappedInputProperty"] = map[string]any{
		"description": "An input that is filled from a chosen instance: any but a reference.",
		"oneOf":       d.variants(),
	}
	root["$defs"] = d.defs
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic("inputprop: " + err.Error())
	}
	return b.Bytes()
}

// describer turns the types that the decoder reads into schemas. Structs become definitions.
type describer struct {
	defs map[string]any
	// mapped is set for the variants within mapped_inputs.
	mapped bool
}

func (d *describer) variants() []any {
	var list []any
	for _, v := range variants {
		if d.mapped && v.name == refPrefix {
			continue
		}
		t := reflect.TypeOf(v.make()).Elem()
		name := t.Name()
		if d.mapped {
			name = "Mapped" + name
		}
		schema := d.object(t)
		properties := schema["properties"].(map[string]any)
		properties["type"] = discriminatorSchema(v)
		schema["description"] = sentences[t.Name()]
		d.defs[name] = schema
		list = append(list, refTo(name))
	}
	return list
}

func discriminatorSchema(v variant) map[string]any {
	if v.name == refPrefix {
		return map[string]any{"type": "string", "pattern": refType.String(), "maxLength": maxRefType, "description": sentences["type"]}
	}
	return map[string]any{"const": v.name, "description": sentences["type"]}
}

func refTo(name string) map[string]any { return map[string]any{"$ref": "#/$defs/" + name} }

func (d *describer) object(t reflect.Type) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for _, m := range strictjson.Members(t) {
		schema := maps.Clone(d.member(t, m))
		schema["description"] = sentence(t, m.Name)
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

// sentence describes a member, of a struct in particular where there is something to say.
func sentence(t reflect.Type, member string) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	if text, ok := sentences[name+"."+member]; ok {
		return text
	}
	return sentences[member]
}

// member is the schema of a struct's field. The inputs of a reference are mapped ones.
func (d *describer) member(t reflect.Type, m strictjson.Member) map[string]any {
	inner := describer{defs: d.defs, mapped: d.mapped || t == reflect.TypeFor[ReferenceProperty]()}
	return inner.schema(t.FieldByIndex(m.Path).Type, m.Rules)
}

// named makes the definition of a struct once.
func (d *describer) named(t reflect.Type) map[string]any {
	if _, known := d.defs[t.Name()]; !known {
		schema := d.object(t)
		schema["description"] = sentences[t.Name()]
		d.defs[t.Name()] = schema
	}
	return refTo(t.Name())
}
