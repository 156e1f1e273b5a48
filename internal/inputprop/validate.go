package inputprop

import (
	"context"

	"slipway/internal/strictjson"

	"slipway/internal/fault"
	"slipway/internal/secret"
)

// Context is what values are validated in.
type Context struct{ Env }

// RuleMappedInput is the rule of a value by hand where the chosen instance gives another.
const RuleMappedInput = "mapped_input"

// Validation is what was found in values.
type Validation struct {
	// Violations are all that is wrong with them.
	Violations []fault.Violation
	// Unresolved are the places of defaults, by JSON Pointers into the values, whose templates name what is not
	// known; they were left as they are and not judged.
	Unresolved []string
}

// Validate gives every violation of the values, as Examine does.
func (e *Engine) Validate(ctx context.Context, list []Property, values *strictjson.Node, at string, c Context) ([]fault.Violation, error) {
	v, err := e.Examine(ctx, list, values, at, c)
	if err != nil {
		return nil, err
	}
	return v.Violations, nil
}

// Examine judges the values, an object or nil, with the defaults that they leave standing. Pointers of
// violations start with at. The error is of the patterns, of c's functions or of the context.
func (e *Engine) Examine(ctx context.Context, list []Property, values *strictjson.Node, at string, c Context) (*Validation, error) {
	r := newResolver(ctx, &c.Env, at)
	f := r.rootLevel(list, values)
	if r.err != nil {
		return nil, r.err
	}
	j := &validator{Collector: r.Collector, match: e.matcher(ctx), resolver: r}
	if values == nil || values.Kind == strictjson.Object {
		j.level(f)
	}
	if r.err == nil {
		r.err = j.match.err
	}
	if r.err == nil {
		r.err = ctx.Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	return &Validation{Violations: r.Violations(), Unresolved: j.unresolved}, nil
}

// judge finds what is wrong with values.
type validator struct {
	*strictjson.Collector
	match *Matcher
	// resolver gives the options of dynamic values, nil where they do not matter.
	resolver *resolver
	// saving is set for defaults: templates are judged once they are rendered, and nothing is missing
	// yet.
	saving bool
	// released is set for defaults that a release would have.
	released bool
	// unresolved are the pointers of the texts that were left with their templates.
	unresolved []string
	// choices are the options that were made ready.
	choices map[choiceKey]*allowed
}

// level judges the values of a level.
func (v *validator) level(f *level) {
	ids := f.inputs.ValueIDs()
	for _, key := range f.unknownKeys {
		v.FailMember(key, "unknown_input", "is not the id of an input that has a value%s", v.Hint(key, ids))
	}
	for i := range f.fields {
		fl := &f.fields[i]
		if v.saving && fl.entered == nil {
			continue
		}
		v.Path.PushKey(fl.in.ID)
		names := f.namesOf(fl.in.ID)
		v.PushNames(names...)
		v.field(f, fl, fl.before)
		v.PopNames(names...)
		v.Path.Pop()
	}
}

// namesOf returns the names that a field has by the values of its level: that of an entry {name, value}.
func (l *level) namesOf(id string) []string {
	if id != secret.ValueMember {
		return nil
	}
	return []string{l.plainText(secret.NameMember)}
}

func memberOf(n *strictjson.Node, key string) *strictjson.Node {
	if n == nil || n.Kind != strictjson.Object {
		return nil
	}
	return n.Get(key)
}

func (v *validator) field(f *level, fl *field, before *strictjson.Node) {
	if !fl.visible || fl.in.Traits.NoValue {
		return
	}
	if fl.isOverridden() {
		v.Fail(RuleMappedInput, "must be left out, for it comes from the chosen instance %s", strictjson.ShowText(fl.instance))
		return
	}
	if fl.unknown {
		return
	}
	if !fl.unresolved {
		v.checkLocked(f, fl, before)
	} else if fl.entries == nil {
		v.resolver.unresolved(&v.unresolved, &v.Path, fl.value)
	}
	switch {
	case !v.saving && fl.isMissing():
		v.Fail("required", "is required and must not be empty")
	case fl.value == nil:
	case fl.value.Kind != strictjson.Null:
		v.value(fl, f)
		v.entries(fl)
	case fl.in.Traits.NotNull:
		v.Fail("type", "must be true or false, found null")
	}
}

// byHand says whether a value was entered that the chosen instance gives.
func (fl *field) isOverridden() bool {
	return fl.instance != "" && fl.entered != nil && !fl.unknown && (fl.value == nil || !strictjson.Equal(fl.entered, fl.value))
}

// lacking says whether a value is demanded that is not there. An input that an instance fills by no
// default has nobody to fill it.
func (fl *field) isMissing() bool {
	if !fl.in.Traits.Required || fl.instance != "" && fl.in.Initial().InitialValue == (InitialValue{}) {
		return false
	}
	return fl.isEmpty()
}

// isEmpty reports whether the value is what a required input of the variant refuses: nothing, null, an empty
// text, or a collection without an item.
func (fl *field) isEmpty() bool {
	n := fl.value
	return n == nil || n.Kind == strictjson.Null || fl.in.Property.IsEmpty(n)
}

// entries judges the items of a collection, each as a level of its own.
func (v *validator) entries(fl *field) {
	keys := v.keys(fl)
	for i := range fl.entries {
		e := &fl.entries[i]
		if keys != nil {
			v.Path.PushKey(e.given)
			keys.check(v, e)
		} else {
			v.Path.PushIndex(i)
		}
		if e.level != nil {
			v.level(e.level)
		} else if e.node.Kind != strictjson.Object {
			v.Fail("type", "must be an object of values by the ids of the item inputs, found %s", strictjson.Show(e.node))
		}
		v.Path.Pop()
	}
}
