package inputprop

import "slipway/internal/fault"

// Check gives every violation of the rules that take several members of a property, or several
// properties. The pointers start with at.
func Check(p Property, at string) []fault.Violation {
	c := newChecker(at)
	c.input(p, map[string]string{})
	return c.violations()
}

// CheckList is Check for the properties of one level.
func CheckList(list []Property, at string) []fault.Violation {
	c := newChecker(at)
	c.inputs(list, map[string]string{})
	return c.violations()
}

type checker struct{ report }

func newChecker(at string) *checker { return &checker{report{root: at}} }

// inputs checks properties of one level, whose ids so far, and where they are, taken holds.
func (c *checker) inputs(list []Property, taken map[string]string) {
	for i, p := range list {
		c.at.item(i)
		c.input(p, taken)
		c.at.up()
	}
}

func (c *checker) input(p Property, taken map[string]string) {
	c.unique(p.Head().ID, taken)
	switch p := p.(type) {
	case *NumberProperty:
		c.bounds(p)
	case *ObjectMapProperty:
		c.nested("item_inputs", p.ItemInputs, map[string]string{})
	case *ObjectArrayProperty:
		c.nested("item_inputs", p.ItemInputs, map[string]string{})
	case *ReferenceProperty:
		// The values of mapped inputs stand beside the reference's own, so they are of its level.
		c.nested("mapped_inputs", p.MappedInputs, taken)
	}
}

func (c *checker) nested(key string, list []Property, taken map[string]string) {
	c.at.member(key)
	c.inputs(list, taken)
	c.at.up()
}

func (c *checker) unique(id string, taken map[string]string) {
	if first, ok := taken[id]; ok {
		c.failMember("id", "unique_id", "must be unique on its level, found %s at %s too", quote(id), first)
		return
	}
	c.at.member("id")
	taken[id] = c.at.pointer(c.root)
	c.at.up()
}

func (c *checker) bounds(p *NumberProperty) {
	if p.Min != nil && p.Max != nil && *p.Min > *p.Max {
		c.failMember("min", "min_max", "must not be more than max, found %d and a max of %d", *p.Min, *p.Max)
	}
}
