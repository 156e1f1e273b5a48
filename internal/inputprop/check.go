package inputprop

import (
	"context"

	"slipway/internal/fault"
)

// checker finds what is wrong with properties beyond what each member decides by itself.
type checker struct {
	*report
	ctx      context.Context
	match    *matcher
	warnings []Warning
	// patternBytes are those of the patterns so far.
	patternBytes int
	// mapped is set within mapped_inputs.
	mapped bool
}

func (e *Engine) checker(ctx context.Context, at string) *checker {
	return &checker{report: &report{root: at}, ctx: ctx, match: e.matcher(ctx)}
}

func (c *checker) result() ([]fault.Violation, []Warning, error) {
	if c.match.err != nil {
		return nil, nil, c.match.err
	}
	return c.violations(), c.warnings, c.ctx.Err()
}

func (c *checker) warn(rule, message string) {
	if len(c.warnings) < fault.MaxViolations {
		c.warnings = append(c.warnings, Warning{c.pointer(), rule, message})
	}
}

// root checks a property that stands alone.
func (c *checker) root(p Property) {
	if isSection(p) {
		c.warn("root_section", "has no value, so it gives nothing that could be a default")
	}
	if p.ShowWhenJSON() != nil {
		c.at.member("show_when")
		c.warn("root_show_when", "has no effect here, where there are no other inputs")
		c.at.up()
	}
	c.input(p, map[string]string{})
	c.conditions(planOf([]Property{p}), true)
}

// list checks the properties of one level, and gives its plan.
func (c *checker) list(list []Property) *plan {
	c.inputs(list, map[string]string{})
	level := planOf(list)
	c.conditions(level, false)
	return level
}

// inputs checks each of the properties, whose ids so far, and where they are, taken holds.
func (c *checker) inputs(list []Property, taken map[string]string) {
	for i, p := range list {
		c.at.item(i)
		c.input(p, taken)
		c.at.up()
	}
}

func (c *checker) input(p Property, taken map[string]string) {
	c.unique(p.Head().ID, taken)
	c.name(p.Head().ID)
	defer c.rename(p.Head().ID)
	switch p := p.(type) {
	case *StringProperty:
		c.patterns(p.Patterns)
	case *TextProperty:
		c.patterns(p.Patterns)
	case *StringArrayProperty:
		c.patterns(p.Patterns)
	case *NumberProperty:
		c.bounds(p)
	case *ObjectMapProperty:
		c.mapItems(p, c.items(p.ItemInputs))
	case *ObjectArrayProperty:
		c.arrayItems(p, c.items(p.ItemInputs))
	case *ReferenceProperty:
		c.mappedInputs(p, taken)
	}
	c.options(p)
	c.start(p)
}

func (c *checker) items(list []Property) *plan {
	c.at.member("item_inputs")
	defer c.at.up()
	return c.list(list)
}

// mappedInputs have their values beside the reference's own, so they are of its level.
func (c *checker) mappedInputs(p *ReferenceProperty, taken map[string]string) {
	c.at.member("mapped_inputs")
	c.mapped = true
	c.inputs(p.MappedInputs, taken)
	c.mapped = false
	c.at.up()
}

func (c *checker) unique(id string, taken map[string]string) {
	if first, ok := taken[id]; ok {
		c.failMember("id", "unique_id", "must be unique on its level, found %s at %s too", quote(id), first)
		return
	}
	c.at.member("id")
	taken[id] = c.inside()
	c.at.up()
}

func (c *checker) bounds(p *NumberProperty) {
	if p.Min != nil && p.Max != nil && *p.Min > *p.Max {
		c.failMember("min", "min_max", "must not be more than max, found %d and a max of %d", *p.Min, *p.Max)
	}
}
