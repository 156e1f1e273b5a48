package inputrules

import (
	"fmt"
	"slices"

	"slipway/internal/inputprop"
	"slipway/internal/strictjson"
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
	kinds := map[string]strictjson.Kind{}
	c.eachOption(p, func(o inputprop.Option) { c.record(p, o, kinds) })
}

// eachOption checks each of the static values, and that it is not there twice.
func (c *checker) eachOption(p inputprop.Property, check func(inputprop.Option)) {
	values, ok := p.ValueSource().(*inputprop.StaticValues)
	if !ok {
		return
	}
	c.Path.PushKey("values")
	defer c.Path.Pop()
	first := make(map[string]int, len(values.Options))
	for i, o := range values.Options {
		c.Path.PushIndex(i)
		check(o)
		key := strictjson.Key(inputprop.ChosenValue(p, o))
		if other, taken := first[key]; taken {
			c.Fail("unique_value", "must be unique among the values, found that of %d again", other)
		} else {
			first[key] = i
		}
		c.Path.Pop()
	}
}

// exposed checks the names of a compound input's fields.
func (c *checker) exposed(p *inputprop.CompoundProperty) {
	for i, name := range p.Fields {
		if slices.Contains(p.Fields[:i], name) {
			c.FailBelow(fmt.Sprintf("/fields/%d", i), "unique_field", "must be unique among the fields, found %s again", strictjson.Quote(name))
		}
	}
}

// record checks that an option has every field that is exposed, and fields of the types that the
// options before it have.
func (c *checker) record(p *inputprop.CompoundProperty, o inputprop.Option, kinds map[string]strictjson.Kind) {
	record, _ := o.Value.(inputprop.Record)
	c.Path.PushKey("fields")
	defer c.Path.Pop()
	for _, name := range p.Fields {
		if _, ok := record[name]; !ok {
			c.FailMember(name, "missing_field", "must be there, for the input exposes it")
		}
	}
	value := record.Node()
	for i, name := range value.Keys {
		kind := value.Items[i].Kind
		if before, known := kinds[name]; known && kind != before {
			c.FailMember(name, "field_type", "must be %s, as in the options before, found %s", before, strictjson.Show(value.Items[i]))
			continue
		}
		kinds[name] = kind
	}
}
