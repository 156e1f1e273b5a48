package inputvalues

import (
	"context"
	"strconv"

	"slipway/internal/base/fault"
	"slipway/internal/base/secret"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// CheckValues returns what is wrong with values as a whole, which are an object by the ids of their inputs; nil is
// nothing given. The violation's pointer is at.
func CheckValues(n *strictjson.Node, at string) []fault.Violation {
	if n != nil && n.Kind == strictjson.Object {
		return nil
	}
	found := strictjson.Shown("nothing")
	if n != nil {
		found = strictjson.Show(n)
	}
	return []fault.Violation{{
		Pointer: at, Rule: "type",
		Message: "must be an object of values by the ids of the inputs, found " + string(found),
	}}
}

// RuleMappedInput is the rule of a value that was entered if the chosen instance has another.
const RuleMappedInput = "mapped_input"

// Validation is what was found in values.
type Validation struct {
	// Violations are all that is wrong with them.
	Violations []fault.Violation
	// Unresolved are the places of defaults, by JSON Pointers into the values, whose templates name what is not
	// known; they were left as they are and not validated.
	Unresolved []string
	// Warnings are of mapped inputs that are left out, with JSON Pointers into the values.
	Warnings []inputprop.Warning
}

// Validate returns every violation of the values, as Examine does.
func (e *Engine) Validate(
	ctx context.Context, list []inputprop.Property, values *strictjson.Node, at string, env Env,
) ([]fault.Violation, error) {
	v, err := e.Examine(ctx, list, values, at, env)
	if err != nil {
		return nil, err
	}
	return v.Violations, nil
}

// Examine validates the values, an object or nil, with the defaults that they leave standing. Pointers of
// violations start with at. The error is of the patterns, of env's functions or of the context.
func (e *Engine) Examine(
	ctx context.Context, list []inputprop.Property, values *strictjson.Node, at string, env Env,
) (*Validation, error) {
	r := e.resolver(ctx, &env, at)
	return e.examine(r, r.rootLevel(list, values), values)
}

// examine validates the level that a resolver has made of values.
func (e *Engine) examine(r *resolver, l *level, values *strictjson.Node) (*Validation, error) {
	if r.err != nil {
		return nil, r.err
	}
	v := &validator{Collector: r.Collector, match: r.match, resolver: r}
	if values == nil || values.Kind == strictjson.Object {
		v.level(l)
	}
	if r.err == nil {
		r.err = v.match.err
	}
	if r.err == nil {
		r.err = r.ctx.Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	return &Validation{Violations: r.Violations(), Unresolved: v.unresolved, Warnings: v.warnings}, nil
}

// validator finds what is wrong with values.
type validator struct {
	*strictjson.Collector
	match *Matcher
	// resolver has the options of dynamic values, nil if they do not matter.
	resolver *resolver
	// saving is set for values that are saved with a schema: templates are validated once they are filled in, and
	// nothing is missing yet.
	saving bool
	// released is set for defaults that a release would have.
	released bool
	// unresolved are the pointers of the texts that were left with their templates.
	unresolved []string
	// warnings are of the fields that are left out.
	warnings []inputprop.Warning
	// choices are the options that were made ready so far.
	choices map[choiceKey]*allowed
}

// level validates the values of a level.
func (v *validator) level(l *level) {
	ids := l.inputs.ValueIDs()
	for _, key := range l.unknownKeys {
		v.FailMember(key, "unknown_input", "is not the id of an input that has a value%s", v.Hint(key, ids))
	}
	for i := range l.fields {
		fl := &l.fields[i]
		if v.saving && fl.entered == nil {
			continue
		}
		v.Path.PushKey(fl.in.ID)
		names := l.namesOf(fl.in.ID)
		v.PushNames(names...)
		v.field(l, fl)
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

// field validates the value of an input, against the one that binds.
func (v *validator) field(l *level, fl *field) {
	if !fl.visible || fl.in.Traits.NoValue {
		return
	}
	if fl.isOverridden() {
		v.Fail(RuleMappedInput,
			"must be left out, for it comes from the chosen instance %s", strictjson.ShowText(fl.instance))
		return
	}
	if fl.unknown {
		return
	}

	v.resolver.warn(&v.warnings, &v.Path, fl)
	if !fl.unresolved {
		v.checkLocked(l, fl)
	} else if fl.entries == nil {
		v.resolver.unresolved(&v.unresolved, &v.Path, fl.value)
	}

	if !fl.isJudged() {
		v.content(fl, l)
	}
}

// content validates a value by itself.
func (v *validator) content(fl *field, l *level) {
	switch {
	case !v.saving && fl.isMissing():
		v.Fail("required", "is required and must not be empty")
	case fl.value == nil:
	case fl.value.Kind != strictjson.Null:
		v.value(fl, l)
		v.entries(fl)
	case fl.in.Traits.NotNull:
		v.value(fl, l)
	}
}

// isJudged reports whether the value is the one before, with which nothing was found wrong.
func (fl *field) isJudged() bool {
	return fl.kept && fl.judged && !fl.unresolved && strictjson.Equal(fl.value, fl.bound)
}

// isOverridden reports whether a value was entered in place of the one that the chosen instance has.
func (fl *field) isOverridden() bool {
	return fl.instance != "" && fl.entered != nil && !fl.unknown &&
		(fl.value == nil || !strictjson.Equal(fl.entered, fl.value))
}

// isMissing reports whether a required value is not there. An input that is mapped from an instance and has no default
// is not missing, for nobody could enter it.
func (fl *field) isMissing() bool {
	if !fl.in.Traits.Required || fl.instance != "" && fl.in.Initial().InitialValue == (inputprop.InitialValue{}) {
		return false
	}
	return !isValue(fl.value) || fl.in.Property.IsEmpty(fl.value)
}

// entries validates the items of a collection, each as a level of its own.
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

// checkLocked compares a value with the one that binds: an immutable one must be the same, one with a minimum no less.
// If none binds, any may come.
func (v *validator) checkLocked(l *level, fl *field) {
	before, traits := fl.bound, fl.in.Traits
	if before == nil {
		return
	}

	if traits.Immutable && (fl.value == nil || !strictjson.Equal(fl.value, before)) {
		v.Fail("immutable", "must stay as it was first deployed, %s, found %s",
			strictjson.ShowJSON(before), strictjson.ShowJSON(fl.value))
		return
	}

	if !traits.MinCurrent || !isValue(fl.value) {
		return
	}
	if traits.Numeric {
		v.checkNoLess(fl.value, before)
		return
	}

	if a := v.allowed(l, fl.in.Property); a != nil {
		now, isNow := a.position(fl.value)
		current, isCurrent := a.position(before)
		if isNow && isCurrent && now < current {
			v.Fail("min_current_value", "must not stand before the current %s among the values, found %s",
				strictjson.ShowJSON(before), strictjson.ShowJSON(fl.value))
		}
	}
}

func (v *validator) checkNoLess(n, before *strictjson.Node) {
	if n.Kind != strictjson.Number || before.Kind != strictjson.Number {
		return
	}
	now, err := strictjson.ParseInt32(n.Text)
	current, wrong := strictjson.ParseInt32(before.Text)
	if err == nil && wrong == nil && now < current {
		v.Fail("min_current_value", "must not be less than the current %s, found %s",
			strictjson.ShowNumber(strconv.Itoa(int(current))), strictjson.ShowNumber(strconv.Itoa(int(now))))
	}
}

// keys checks the keys of a map, one entry after the other.
type keys struct {
	config *inputprop.MapKeyConfig
	// seen are the computed keys so far, with the pointers of their entries.
	seen map[string]string
}

// keys returns nil if the field is no map.
func (v *validator) keys(fl *field) *keys {
	if fl.in.Nested.Collection != strictjson.Object {
		return nil
	}
	return &keys{fl.in.Nested.Key, map[string]string{}}
}

func (k *keys) check(v *validator, e *entry) {
	key, from := e.given, k.config.Sources()
	v.PushNames(from...)
	defer v.PopNames(from...)

	if len(from) > 0 {
		if e.level == nil {
			return
		}
		if key = e.computed; key == "" {
			if !v.saving {
				v.Fail("key_empty", "must have a value for one of %s, of which its key is made", strictjson.Listing(from))
			}
			return
		}
		if first, found := k.seen[key]; found {
			v.FailBeside(first, "key_unique", "must have a key of its own, found %s as of", strictjson.ShowText(key))
			return
		}
		k.seen[key] = v.Pointer()
	}

	if key == "" {
		v.Fail("key_empty", "must have a key that is not empty")
		return
	}

	var patterns []inputprop.ValidationPattern
	if k.config != nil && (len(from) == 0 || !e.level.isUnresolved(from...)) {
		patterns = k.config.Patterns
	}
	v.text(key, patterns)
}
