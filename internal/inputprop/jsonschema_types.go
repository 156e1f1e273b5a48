package inputprop

import (
	"math"
	"reflect"
)

func (d *describer) schema(t reflect.Type, r *rules) map[string]any {
	switch t {
	case propertyType:
		if d.mapped {
			return refTo("MappedInputProperty")
		}
		return map[string]any{"$ref": "#"}
	case valuesType:
		return d.values(r)
	case rawType:
		return map[string]any{"type": map[Kind]string{Object: "object", Array: "array"}[r.shape]}
	case reflect.TypeFor[Record]():
		return map[string]any{"type": "object", "additionalProperties": anyOf(textSchema(&rules{max: maxValue}), int32Schema(), boolSchema())}
	case reflect.TypeFor[Param]():
		return anyOf(textSchema(&rules{max: maxValue}), d.object(reflect.TypeFor[inputParam]()))
	}
	if def, ok := reflect.Zero(reflect.PointerTo(t)).Interface().(interface{ literal() reflect.Type }); ok {
		return d.start(def.literal(), r)
	}
	return d.plain(t, r)
}

func (d *describer) plain(t reflect.Type, r *rules) map[string]any {
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
		return map[string]any{"type": "object", "additionalProperties": d.schema(t.Elem(), r.items())}
	default:
		return d.named(t)
	}
}

func (d *describer) list(t reflect.Type, r *rules) map[string]any {
	items := d.schema(t.Elem(), r.items())
	if r.items().nullable {
		items = anyOf(items, map[string]any{"type": "null"})
	}
	schema := map[string]any{"type": "array", "items": items}
	if r.nonempty {
		schema["minItems"] = 1
	}
	return schema
}

// start is the schema of a default: its literal, or an instruction.
func (d *describer) start(literal reflect.Type, r *rules) map[string]any {
	choices := []any{d.schema(literal, r)}
	if r.first {
		choices = append(choices, map[string]any{"const": First})
	}
	if d.mapped {
		choices = append(choices, map[string]any{"type": "string", "pattern": `^\$\{\{\s*ref\.[^{}]*\}\}$`, "maxLength": maxValue})
	}
	if len(choices) == 1 {
		return choices[0].(map[string]any)
	}
	return map[string]any{"anyOf": choices}
}

func (v *Default[T]) literal() reflect.Type { return reflect.TypeFor[T]() }

func (d *describer) values(r *rules) map[string]any {
	var option any
	switch r.options {
	case "string":
		option = anyOf(textSchema(&rules{max: maxValue}), d.object(reflect.TypeFor[labelled[string]]()))
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

func textSchema(r *rules) map[string]any {
	schema := map[string]any{"type": "string"}
	if r.nonempty {
		schema["minLength"] = 1
	}
	if r.max > 0 {
		schema["maxLength"] = r.max
	}
	return schema
}
