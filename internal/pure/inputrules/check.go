// Package inputrules has the rules that a schema must keep when it is saved, beyond what each member of a property
// decides by itself: over several members, over the inputs of a level, for patterns, templates and defaults.
//
// A checker goes over the properties as they are nested, and adds a violation for every rule that is broken and a
// warning for what is allowed, but may not be meant. Defaults and options are values, so package inputvalues validates
// them by the same rules as values that are entered. Stored schemas are read without these rules, which grow stricter
// over time; DropRefused takes out of them the defaults that would be refused now.
package inputrules

import (
	"context"
	"fmt"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
)

// Engine checks properties before they are saved. It is safe for concurrent use.
type Engine struct{ patterns inputvalues.Patterns }

// NewEngine returns an engine. Without patterns it takes every pattern and every text.
func NewEngine(patterns inputvalues.Patterns) *Engine { return &Engine{patterns} }

// Check returns every violation of the rules that take several members of a property, a pattern or a
// template, and warnings. The property stands alone: it has no siblings to be shown by. Pointers start
// with at; the error is of the patterns or of the context.
func (e *Engine) Check(
	ctx context.Context, p inputprop.Property, at string,
) ([]fault.Violation, []inputprop.Warning, error) {
	c := newChecker(ctx, inputvalues.NewMatcher(ctx, e.patterns), at, false)
	c.alone(p)
	return c.result()
}

// CheckList is Check for the inputs of a module: the properties of one level, which may be shown by one another. Their
// values are released, so that a default is refused that a release would refuse.
func (e *Engine) CheckList(
	ctx context.Context, list []inputprop.Property, at string,
) ([]fault.Violation, []inputprop.Warning, error) {
	c := newChecker(ctx, inputvalues.NewMatcher(ctx, e.patterns), at, true)
	c.level(list)
	return c.result()
}

// checker finds what is wrong with properties beyond what each member decides by itself.
type checker struct {
	*strictjson.Collector
	ctx      context.Context
	match    *inputvalues.Matcher
	warnings []inputprop.Warning
	// patternBytes are those of the patterns so far.
	patternBytes int
	// mapped is set within mapped_inputs.
	mapped bool
	// saved validates defaults and options.
	saved *inputvalues.SavedValidator
}

// newChecker returns a checker of properties, whose defaults are those of releases where released is set.
func newChecker(ctx context.Context, match *inputvalues.Matcher, at string, released bool) *checker {
	c := strictjson.NewCollector(at)
	return &checker{Collector: c, ctx: ctx, match: match, saved: inputvalues.NewSavedValidator(ctx, c, match, released)}
}

func (c *checker) result() ([]fault.Violation, []inputprop.Warning, error) {
	if c.match.Err() != nil {
		return nil, nil, c.match.Err()
	}
	return c.Violations(), c.warnings, c.ctx.Err()
}

func (c *checker) warn(rule, message string) {
	if len(c.warnings) < fault.MaxViolations {
		c.warnings = append(c.warnings, inputprop.Warning{Pointer: c.Pointer(), Rule: rule, Message: message})
	}
}

// alone checks a property that has no siblings.
func (c *checker) alone(p inputprop.Property) {
	if p.Traits().NoValue {
		c.warn("root_section", "has no value, so it gives nothing that could be a default")
	}
	if p.Head().ShowWhen != nil {
		c.Path.PushKey("show_when")
		c.warn("root_show_when", "has no effect here, where there are no other inputs")
		c.Path.Pop()
	}
	c.input(p, map[string]string{})
	c.conditions(inputprop.NewLevel([]inputprop.Property{p}), true)
}

// level checks the properties of one level, and returns the level.
func (c *checker) level(list []inputprop.Property) *inputprop.Level {
	c.inputs(list, map[string]string{})
	level := inputprop.NewLevel(list)
	c.conditions(level, false)
	return level
}

// inputs checks each of the properties. ids has the ids so far, and where they are.
func (c *checker) inputs(list []inputprop.Property, ids map[string]string) {
	for i, p := range list {
		c.Path.PushIndex(i)
		c.input(p, ids)
		c.Path.Pop()
	}
}

func (c *checker) input(p inputprop.Property, ids map[string]string) {
	c.unique(p.Head().ID, ids)
	c.PushNames(p.Head().ID)
	defer c.PopNames(p.Head().ID)
	c.check(p, ids)
	c.checkDefault(p)
}

// check holds a property to the rules of its variant.
func (c *checker) check(p inputprop.Property, ids map[string]string) {
	switch p := p.(type) {
	case *inputprop.StringProperty:
		c.patterns(p.Patterns)
		c.options(p, func(value any) { c.saved.Line(value.(string), p.Patterns) })
	case *inputprop.TextProperty:
		c.patterns(p.Patterns)
	case *inputprop.StringArrayProperty:
		c.patterns(p.Patterns)
		c.options(p, func(value any) { c.saved.ItemText(value.(string), p.Patterns) })
	case *inputprop.NumberProperty:
		c.bounds(p)
		c.options(p, func(value any) { c.saved.Number(p, value.(int32)) })
	case *inputprop.ObjectMapProperty:
		c.mapItems(p, c.items(p.ItemInputs))
	case *inputprop.ObjectArrayProperty:
		c.arrayItems(p, c.items(p.ItemInputs))
	case *inputprop.CompoundProperty:
		c.exposed(p)
		c.records(p)
	case *inputprop.ReferenceProperty:
		c.mappedInputs(p, ids)
	case *inputprop.ObjectProperty, *inputprop.ArrayProperty, *inputprop.BooleanProperty,
		*inputprop.SectionProperty, *inputprop.GitRepoProperty, *inputprop.KeyValueProperty:
		// Their members have no rules together.
	}
}

func (c *checker) items(list []inputprop.Property) *inputprop.Level {
	c.Path.PushKey("item_inputs")
	defer c.Path.Pop()
	return c.level(list)
}

// mappedInputs have their values beside the reference's own, so they are of its level.
func (c *checker) mappedInputs(p *inputprop.ReferenceProperty, ids map[string]string) {
	c.Path.PushKey("mapped_inputs")
	c.mapped = true
	c.inputs(p.MappedInputs, ids)
	c.mapped = false
	c.Path.Pop()
}

func (c *checker) unique(id string, ids map[string]string) {
	c.Path.PushKey("id")
	defer c.Path.Pop()
	if first, ok := ids[id]; ok {
		c.FailBeside(first, "unique_id", "must be unique on its level, found %s as at", strictjson.Quote(id))
		return
	}
	ids[id] = c.Pointer()
}

func (c *checker) bounds(p *inputprop.NumberProperty) {
	if p.Min != nil && p.Max != nil && *p.Min > *p.Max {
		most := c.Pointer() + "/max"
		c.Path.PushKey("min")
		c.FailBeside(most, "min_max", "must not be more than max, found %d, and %d at", *p.Min, *p.Max)
		c.Path.Pop()
	}
}

// maxPatternBytes is how long all patterns of a schema may be together, because reading them takes its time.
const maxPatternBytes = 32 << 10

// patterns checks that each pattern can be run.
func (c *checker) patterns(list []inputprop.ValidationPattern) {
	c.Path.PushKey("patterns")
	defer c.Path.Pop()

	for i, p := range list {
		c.Path.PushIndex(i)
		c.Path.PushKey("pattern")

		var flaw inputvalues.PatternFlaw
		if c.patternBytes += len(p.Pattern); c.patternBytes > maxPatternBytes {
			flaw = inputvalues.PatternFlaw{
				Rule:    "max_patterns",
				Message: fmt.Sprintf("must be among patterns of at most %d bytes together, found more", maxPatternBytes),
			}
		} else {
			flaw = c.match.Compile(p.Pattern)
		}

		if flaw.Rule != "" {
			c.Fail(flaw.Rule, "%s, in %s", flaw.Message, strictjson.Quote(p.Pattern))
		}
		for _, warning := range flaw.Warnings {
			c.warn("pattern_portability", warning)
		}

		c.Path.Pop()
		c.Path.Pop()
	}
}
