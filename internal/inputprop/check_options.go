package inputprop

import (
	"fmt"
	"slices"
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
	c.at.member("values")
	defer c.at.up()
	first := make(map[string]int, len(values.Options))
	kinds := map[string]Kind{}
	for i, o := range values.Options {
		c.at.item(i)
		if isCompound {
			c.record(compound, o, kinds)
		} else {
			c.option(p, o)
		}
		key := canonical(choice(p, o))
		if other, taken := first[key]; taken {
			c.fail("unique_value", "must be unique among the values, found that of %d again", other)
		} else {
			first[key] = i
		}
		c.at.up()
	}
}

// option checks a value by the input's own bounds.
func (c *checker) option(p Property, o Option) {
	if !o.Bare {
		c.at.member("value")
		defer c.at.up()
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
			c.failBelow(fmt.Sprintf("/fields/%d", i), "unique_field", "must be unique among the fields, found %s again", quote(name))
		}
	}
}

// record checks that an option has every field that is exposed, and fields of the types that the
// options before it have.
func (c *checker) record(p *CompoundProperty, o Option, kinds map[string]Kind) {
	record, _ := o.Value.(Record)
	c.at.member("fields")
	defer c.at.up()
	for _, name := range p.Fields {
		if _, ok := record[name]; !ok {
			c.failMember(name, "missing_field", "must be there, for the input exposes it")
		}
	}
	value := nodeOf(record)
	for i, name := range value.Keys {
		kind := value.Items[i].Kind
		if before, known := kinds[name]; known && kind != before {
			c.failMember(name, "field_type", "must be %s, as in the options before, found %s", before, value.Items[i].found())
			continue
		}
		kinds[name] = kind
	}
}
