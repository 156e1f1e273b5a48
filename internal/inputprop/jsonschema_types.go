package inputprop

import (
	"math"
	"reflect"

	"slipway/internal/strictjson"
)

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
		return map[string]any{"type": map[strictjson.Kind]string{strictjson.Object: "object", strictjson.Array: "array"}[r.Shape]}
	case reflect.TypeFor[Record]():
		return map[string]any{"type": "object", "additionalProperties": anyOf(textSchema(&strictjson.Rules{Max: MaxText}), int32Schema(), boolSchema())}
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
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": d.schema(t.Elem(), r.Items())}
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
		choices = append(choices, map[string]any{"type": "string", "pattern": `^\$\{\{\s*ref\.[^{}]*\}\}$`, "maxLength": MaxText})
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
	return anyOf(map[string]any{"type": "array", "items": option, "maxItems": maxOptions}, d.named(reflect.TypeFor[DynamicValuesRef]()))
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
