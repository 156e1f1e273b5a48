package inputrules

import (
	"slices"
	"strconv"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// options checks static values: that each is one that the input takes, and that no two are the same.
func (c *checker) options(p inputprop.Property, validate func(value any)) {
	c.eachOption(p, func(o inputprop.Option) {
		if !o.Bare {
			c.Path.PushKey("value")
			defer c.Path.Pop()
		}
		validate(o.Value)
	})
}

// records checks the options of a compound input as options checks those of others.
func (c *checker) records(p *inputprop.CompoundProperty) {
	first := map[string]typedField{}
	c.eachOption(p, func(o inputprop.Option) { c.record(p, o, first) })
}

// eachOption checks each of the static values, and that it is not there twice.
func (c *checker) eachOption(p inputprop.Property, check func(inputprop.Option)) {
	values, ok := p.ValueSource().(*inputprop.StaticValues)
	if !ok {
		return
	}
	c.Path.PushKey("values")
	defer c.Path.Pop()
	first := make(map[string]string, len(values.Options))
	for i, o := range values.Options {
		c.Path.PushIndex(i)
		check(o)
		key := strictjson.Key(inputprop.ChosenValue(p, o))
		if other, taken := first[key]; taken {
			c.FailBeside(other, "unique_value", "must be unique among the values, found the same at")
		} else {
			first[key] = c.Pointer()
		}
		c.Path.Pop()
	}
}

// exposed checks the names of a compound input's fields.
func (c *checker) exposed(p *inputprop.CompoundProperty) {
	c.Path.PushKey("fields")
	defer c.Path.Pop()
	fields := c.Pointer() + "/"
	for i, name := range p.Fields {
		if first := slices.Index(p.Fields, name); first < i {
			c.Path.PushIndex(i)
			c.FailBeside(fields+strconv.Itoa(first), "unique_field",
				"must be unique among the fields, found %s as at", strictjson.Quote(name))
			c.Path.Pop()
		}
	}
}

// typedField is the first field of a name among the options.
type typedField struct {
	kind    strictjson.Kind
	pointer string
}

// record checks that an option has every field that is exposed, and fields of the types that the
// options before it have.
func (c *checker) record(p *inputprop.CompoundProperty, o inputprop.Option, first map[string]typedField) {
	record, _ := o.Value.(inputprop.Record)
	c.Path.PushKey("fields")
	defer c.Path.Pop()

	for _, name := range p.Fields {
		if _, ok := record.Get(name); !ok {
			c.FailMember(name, "missing_field", "must be there, for the input exposes it")
		}
	}

	value := record.Node()
	for i, name := range value.Keys {
		c.Path.PushKey(name)
		kind := value.Items[i].Kind
		if before, known := first[name]; !known {
			first[name] = typedField{kind, c.Pointer()}
		} else if kind != before.kind {
			c.FailBeside(before.pointer, "field_type",
				"must be %s, found %s, unlike at", before.kind, strictjson.Show(value.Items[i]))
		}
		c.Path.Pop()
	}
}
