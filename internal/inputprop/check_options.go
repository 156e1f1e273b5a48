package inputprop

import (
	"fmt"
	"slices"

	"slipway/internal/strictjson"
)

// options checks static values: each is a value that the input itself takes, and no two are the same.
func (c *checker) options(p Property) {
	values, ok := valuesOf(p).(*StaticValues)
	compound, isCompound := p.(*CompoundProperty)
	if isCompound {
		c.exposed(compound)
	}
	if !ok {
		return
	}
	c.Path.PushKey("values")
	defer c.Path.Pop()
	first := make(map[string]int, len(values.Options))
	kinds := map[string]strictjson.Kind{}
	for i, o := range values.Options {
		c.Path.PushIndex(i)
		if isCompound {
			c.record(compound, o, kinds)
		} else {
			c.option(p, o)
		}
		key := strictjson.Key(choice(p, o))
		if other, taken := first[key]; taken {
			c.Fail("unique_value", "must be unique among the values, found that of %d again", other)
		} else {
			first[key] = i
		}
		c.Path.Pop()
	}
}

// option checks a value by the input's own bounds.
func (c *checker) option(p Property, o Option) {
	if !o.Bare {
		c.Path.PushKey("value")
		defer c.Path.Pop()
	}
	j := c.judge()
	switch p := p.(type) {
	case *StringProperty:
		j.text(o.Value.(string), p.Patterns)
	case *StringArrayProperty:
		j.itemText(o.Value.(string), p.Patterns)
	case *NumberProperty:
		j.within(p, o.Value.(int32))
	}
}

// exposed checks the names of a compound input's fields.
func (c *checker) exposed(p *CompoundProperty) {
	for i, name := range p.Fields {
		if slices.Contains(p.Fields[:i], name) {
			c.FailBelow(fmt.Sprintf("/fields/%d", i), "unique_field", "must be unique among the fields, found %s again", strictjson.Quote(name))
		}
	}
}

// record checks that an option has every field that is exposed, and fields of the types that the
// options before it have.
func (c *checker) record(p *CompoundProperty, o Option, kinds map[string]strictjson.Kind) {
	record, _ := o.Value.(Record)
	c.Path.PushKey("fields")
	defer c.Path.Pop()
	for _, name := range p.Fields {
		if _, ok := record[name]; !ok {
			c.FailMember(name, "missing_field", "must be there, for the input exposes it")
		}
	}
	value := nodeOf(record)
	for i, name := range value.Keys {
		kind := value.Items[i].Kind
		if before, known := kinds[name]; known && kind != before {
			c.FailMember(name, "field_type", "must be %s, as in the options before, found %s", before, strictjson.Show(value.Items[i]))
			continue
		}
		kinds[name] = kind
	}
}
