package inputvalues

import (
	"context"
	"strconv"

	"slipway/internal/fault"
	"slipway/internal/inputprop"
	"slipway/internal/secret"
	"slipway/internal/strictjson"
)

// ParseValues reads values, which are an object by the ids of their inputs. The violation's pointer is at.
func ParseValues(text []byte, at string) (*strictjson.Node, []fault.Violation) {
	n, err := strictjson.Parse(text)
	wrong := fault.Violation{Pointer: at, Rule: "type", Message: "must be an object of values by the ids of the inputs"}
	switch {
	case err != nil:
		wrong.Rule, wrong.Message = "json", wrong.Message+": "+err.Error()
	case n.Kind != strictjson.Object:
		wrong.Message += ", found " + string(strictjson.Show(n))
	default:
		return n, nil
	}
	return nil, []fault.Violation{wrong}
}

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
func (e *Engine) Validate(ctx context.Context, list []inputprop.Property, values *strictjson.Node, at string, c Context) ([]fault.Violation, error) {
	v, err := e.Examine(ctx, list, values, at, c)
	if err != nil {
		return nil, err
	}
	return v.Violations, nil
}

// Examine judges the values, an object or nil, with the defaults that they leave standing. Pointers of
// violations start with at. The error is of the patterns, of c's functions or of the context.
func (e *Engine) Examine(ctx context.Context, list []inputprop.Property, values *strictjson.Node, at string, c Context) (*Validation, error) {
	r := newResolver(ctx, &c.Env, at)
	f := r.rootLevel(list, values)
	if r.err != nil {
		return nil, r.err
	}
	j := &validator{Collector: r.Collector, match: NewMatcher(ctx, e.patterns), resolver: r}
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
	if !fl.in.Traits.Required || fl.instance != "" && fl.in.Initial().InitialValue == (inputprop.InitialValue{}) {
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

// bound holds a field to its value before: immutable ones to the value itself, others to no less.
// Where there was no value before, nothing binds.
func (v *validator) checkLocked(f *level, fl *field, before *strictjson.Node) {
	if !isValue(before) {
		return
	}
	traits := fl.in.Traits
	if traits.Immutable && (fl.value == nil || !strictjson.Equal(fl.value, before)) {
		v.Fail("immutable", "must stay as it was first deployed, %s, found %s", strictjson.ShowJSON(before), strictjson.ShowJSON(fl.value))
		return
	}
	if !traits.MinCurrent || !isValue(fl.value) {
		return
	}
	if traits.Numeric {
		v.noLess(fl.value, before)
		return
	}
	if a := v.allowed(f, fl.in.Property); a != nil {
		now, found := a.position(fl.value)
		current, stands := a.position(before)
		if found && stands && now < current {
			v.Fail("min_current_value", "must not stand before the current %s among the values, found %s",
				strictjson.ShowJSON(before), strictjson.ShowJSON(fl.value))
		}
	}
}

func (v *validator) noLess(n, before *strictjson.Node) {
	if n.Kind != strictjson.Number || before.Kind != strictjson.Number {
		return
	}
	now, err := strictjson.ParseInt32(n.Text)
	current, wrong := strictjson.ParseInt32(before.Text)
	if err == nil && wrong == nil && now < current {
		v.Fail("min_current_value", "must not be less than the current %s, found %s", strictjson.ShowNumber(strconv.Itoa(int(current))), strictjson.ShowNumber(strconv.Itoa(int(now))))
	}
}

// keys judges the keys of a map, one entry after the other.
type keys struct {
	config *inputprop.MapKeyConfig
	// taken are the computed keys so far, with the places of their entries.
	taken map[string]string
}

// keys is nil where the field is no map.
func (v *validator) keys(fl *field) *keys {
	if fl.in.Nested.Collection != strictjson.Object {
		return nil
	}
	return &keys{fl.in.Nested.Key, map[string]string{}}
}

func (k *keys) check(j *validator, e *entry) {
	key, from := e.given, k.config.Sources()
	j.PushNames(from...)
	defer j.PopNames(from...)
	if len(from) > 0 {
		if e.level == nil {
			return
		}
		if key = e.computed; key == "" {
			if !j.saving {
				j.Fail("key_empty", "must have a value for one of %s, of which its key is made", strictjson.Listing(from))
			}
			return
		}
		if place, taken := k.taken[key]; taken {
			j.Fail("key_unique", "must have a key of its own, found %s as of %s", strictjson.ShowText(key), place)
			return
		}
		k.taken[key] = j.LocalPointer()
	}
	if key == "" {
		j.Fail("key_empty", "must have a key that is not empty")
		return
	}
	var patterns []inputprop.ValidationPattern
	if k.config != nil && (len(from) == 0 || !e.level.isUnresolved(from...)) {
		patterns = k.config.Patterns
	}
	j.text(key, patterns)
}
