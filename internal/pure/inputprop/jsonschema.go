package inputprop

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"strings"

	"slipway/internal/base/strictjson"
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
		return map[string]any{
			"type": "string", "pattern": refType.String(), "maxLength": maxRefType, "description": sentences["type"],
		}
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

// sentence describes a member, of a struct in particular if there is something to say.
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

func (d *describer) schema(t reflect.Type, r *strictjson.Rules) map[string]any {
	switch t {
	case reflect.TypeFor[Property]():
		if d.mapped {
			return refTo("MappedInputProperty")
		}
		return map[string]any{"$ref": "#"}
	case reflect.TypeFor[Values]():
		return d.values(r)
	case reflect.TypeFor[*strictjson.Node]():
		kinds := map[strictjson.Kind]string{strictjson.Object: "object", strictjson.Array: "array"}
		return map[string]any{"type": kinds[r.Shape]}
	case reflect.TypeFor[strictjson.Ordered[string]]():
		return map[string]any{"type": "object", "additionalProperties": textSchema(r.Items())}
	case reflect.TypeFor[strictjson.Ordered[Param]]():
		return map[string]any{"type": "object", "additionalProperties": d.schema(reflect.TypeFor[Param](), r.Items())}
	case reflect.TypeFor[Record]():
		member := anyOf(textSchema(&strictjson.Rules{Max: MaxText}), int32Schema(), boolSchema())
		return map[string]any{"type": "object", "additionalProperties": member}
	case reflect.TypeFor[Param]():
		return anyOf(textSchema(&strictjson.Rules{Max: MaxText}), d.object(reflect.TypeFor[inputParam]()))
	}

	if def, ok := reflect.Zero(reflect.PointerTo(t)).Interface().(interface{ literal() reflect.Type }); ok {
		return d.start(def.literal(), r)
	}
	return d.plain(t, r)
}

func (d *describer) plain(t reflect.Type, r *strictjson.Rules) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem(), r)
	case reflect.String:
		return textSchema(r)
	case reflect.Bool:
		return boolSchema()
	case reflect.Int32:
		return int32Schema()
	case reflect.Slice:
		return d.list(t, r)
	default:
		return d.named(t)
	}
}

func (d *describer) list(t reflect.Type, r *strictjson.Rules) map[string]any {
	items := d.schema(t.Elem(), r.Items())
	if r.Items().Nullable {
		items = anyOf(items, map[string]any{"type": "null"})
	}
	schema := map[string]any{"type": "array", "items": items}
	if r.Nonempty {
		schema["minItems"] = 1
	}
	return schema
}

// start is the schema of a default: its literal, or an instruction.
func (d *describer) start(literal reflect.Type, r *strictjson.Rules) map[string]any {
	choices := []any{d.schema(literal, r)}
	if _, first := r.Arg(ruleFirst); first {
		choices = append(choices, map[string]any{"const": First})
	}
	if d.mapped {
		choices = append(choices, map[string]any{
			"type": "string", "pattern": `^\$\{\{\s*ref\.[^{}]*\}\}$`, "maxLength": MaxText,
		})
	}
	if len(choices) == 1 {
		return choices[0].(map[string]any)
	}
	return map[string]any{"anyOf": choices}
}

func (v *Default[T]) literal() reflect.Type { return reflect.TypeFor[T]() }

func (d *describer) values(r *strictjson.Rules) map[string]any {
	var option any
	options, _ := r.Arg(ruleOptions)
	switch options {
	case "string":
		option = anyOf(textSchema(&strictjson.Rules{Max: MaxText}), d.object(reflect.TypeFor[labelled[string]]()))
	case "number":
		option = anyOf(int32Schema(), d.object(reflect.TypeFor[labelled[int32]]()))
	default:
		option = d.object(reflect.TypeFor[compoundOption]())
	}
	list := map[string]any{"type": "array", "items": option, "maxItems": maxOptions}
	return anyOf(list, d.named(reflect.TypeFor[DynamicValuesRef]()))
}

func anyOf(choices ...any) map[string]any { return map[string]any{"anyOf": choices} }

func boolSchema() map[string]any { return map[string]any{"type": "boolean"} }

func int32Schema() map[string]any {
	return map[string]any{"type": "integer", "minimum": math.MinInt32, "maximum": math.MaxInt32}
}

func textSchema(r *strictjson.Rules) map[string]any {
	schema := map[string]any{"type": "string"}
	if r.Nonempty {
		schema["minLength"] = 1
	}
	if r.Max > 0 {
		schema["maxLength"] = r.Max
	}
	return schema
}
