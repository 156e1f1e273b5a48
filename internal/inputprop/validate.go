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
	return e.examine(r, r.root(list, values), values)
}

// examine judges the form that a resolver has made of values.
func (e *Engine) examine(r *resolver, f *form, values *strictjson.Node) (*Validation, error) {
	if r.err != nil {
		return nil, r.err
	}
	j := &judge{Collector: r.Collector, match: e.matcher(r.ctx), resolver: r}
	if values == nil || values.Kind == strictjson.Object {
		j.level(f)
	}
	if r.err == nil {
		r.err = j.match.err
	}
	if r.err == nil {
		r.err = r.ctx.Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	return &Validation{Violations: r.Violations(), Unresolved: j.unresolved}, nil
}

// judge finds what is wrong with values.
type judge struct {
	*strictjson.Collector
	match *matcher
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
func (j *judge) level(f *form) {
	ids := f.plan.sources()
	for _, key := range f.stray {
		j.FailMember(key, "unknown_input", "is not the id of an input that has a value%s", j.Hint(key, ids))
	}
	for i := range f.fields {
		fl := &f.fields[i]
		if j.saving && fl.entered == nil {
			continue
		}
		j.Path.PushKey(fl.in.id)
		names := f.namesOf(fl.in.id)
		j.PushNames(names...)
		j.field(f, fl, fl.before)
		j.PopNames(names...)
		j.Path.Pop()
	}
}

// namesOf returns the names that a field has by the values of its level: that of an entry {name, value}.
func (f *form) namesOf(id string) []string {
	if id != secret.ValueMember {
		return nil
	}
	return []string{f.plainText(secret.NameMember)}
}

func memberOf(n *strictjson.Node, key string) *strictjson.Node {
	if n == nil || n.Kind != strictjson.Object {
		return nil
	}
	return n.Get(key)
}

func (j *judge) field(f *form, fl *field, before *strictjson.Node) {
	if !fl.visible || isSection(fl.in.Property) {
		return
	}
	if fl.byHand() {
		j.Fail(RuleMappedInput, "must be left out, for it comes from the chosen instance %s", strictjson.ShowText(fl.instance))
		return
	}
	if fl.unknown {
		return
	}
	if !fl.open {
		j.bound(f, fl, before)
	} else if fl.entries == nil {
		j.resolver.unresolved(&j.unresolved, &j.Path, fl.value)
	}
	switch {
	case !j.saving && fl.lacking():
		j.Fail("required", "is required and must not be empty")
	case fl.value == nil:
	case fl.value.Kind != strictjson.Null:
		j.value(fl, f)
		j.entries(fl)
	case isBoolean(fl.in.Property):
		j.Fail("type", "must be true or false, found null")
	}
}

// byHand says whether a value was entered that the chosen instance gives.
func (fl *field) byHand() bool {
	return fl.instance != "" && fl.entered != nil && !fl.unknown && (fl.value == nil || !strictjson.Equal(fl.entered, fl.value))
}

// lacking says whether a value is demanded that is not there. An input that an instance fills by no
// default has nobody to fill it.
func (fl *field) lacking() bool {
	p, ok := fl.in.Property.(interface{ IsRequired() bool })
	if !ok || !p.IsRequired() || fl.instance != "" && startOf(fl.in.Property) == (start{}) {
		return false
	}
	return fl.isEmpty()
}

// isEmpty reports whether the value is what a required input of the variant refuses: nothing, null, an empty
// text, or a collection without an item.
func (fl *field) isEmpty() bool {
	n := fl.value
	if n == nil || n.Kind == strictjson.Null {
		return true
	}
	switch fl.in.Property.(type) {
	case *StringProperty, *TextProperty, *GitRepoProperty:
		return n.Kind == strictjson.String && n.Text == ""
	case *ObjectMapProperty, *KeyValueProperty:
		return n.Kind == strictjson.Object && len(n.Items) == 0
	case *ObjectArrayProperty, *StringArrayProperty:
		return n.Kind == strictjson.Array && len(n.Items) == 0
	default:
		return false
	}
}

func isBoolean(p Property) bool {
	_, ok := p.(*BooleanProperty)
	return ok
}

// entries judges the items of a collection, each as a level of its own.
func (j *judge) entries(fl *field) {
	keys := j.keys(fl)
	for i := range fl.entries {
		e := &fl.entries[i]
		if keys != nil {
			j.Path.PushKey(e.given)
			keys.judge(j, e)
		} else {
			j.Path.PushIndex(i)
		}
		if e.form != nil {
			j.level(e.form)
		} else if e.node.Kind != strictjson.Object {
			j.Fail("type", "must be an object of values by the ids of the item inputs, found %s", strictjson.Show(e.node))
		}
		j.Path.Pop()
	}
}
