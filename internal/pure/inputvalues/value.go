package inputvalues

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// value validates the value of a field by its variant. The items of collections are validated apart.
func (v *validator) value(fl *field, l *level) {
	n := fl.value
	if n.Kind == strictjson.String && fl.unresolved || v.isTemplate(n) {
		return
	}

	switch p := fl.in.Property.(type) {
	case *inputprop.StringProperty:
		if v.kind(n, strictjson.String) && v.line(n.Text, p.Patterns) {
			v.checkOption(v.allowed(l, p), n)
		}
	case *inputprop.TextProperty:
		if v.kind(n, strictjson.String) {
			v.text(n.Text, p.Patterns)
		}
	case *inputprop.NumberProperty:
		v.number(l, p, n)
	case *inputprop.BooleanProperty:
		v.boolean(n)
	case *inputprop.ObjectProperty, *inputprop.ObjectMapProperty:
		v.collection(fl, strictjson.Object)
	case *inputprop.ArrayProperty, *inputprop.ObjectArrayProperty:
		v.collection(fl, strictjson.Array)
	case *inputprop.StringArrayProperty:
		v.strings(l, p, n)
	case *inputprop.CompoundProperty:
		v.compound(l, p, n)
	case *inputprop.ReferenceProperty:
		v.reference(n)
	case *inputprop.GitRepoProperty:
		v.repository(n)
	case *inputprop.KeyValueProperty:
		v.pairs(n)
	case *inputprop.SectionProperty: // which never has a value
	}
}

// isTemplate reports whether a value is saved as a text with templates, so that what it will be is not known yet.
func (v *validator) isTemplate(n *strictjson.Node) bool {
	return v.saving && n.Kind == strictjson.String && strings.Contains(n.Text, inputprop.TemplateOpen)
}

// kind refuses a value of another kind, and reports whether it is of this one.
func (v *validator) kind(n *strictjson.Node, kind strictjson.Kind) bool {
	if n.Kind != kind {
		v.Fail("type", "must be %s, found %s", kind, strictjson.Show(n))
	}
	return n.Kind == kind
}

// collection validates an object or an array, and what is in it if that is free-form.
func (v *validator) collection(fl *field, kind strictjson.Kind) {
	if v.kind(fl.value, kind) && fl.entries == nil {
		v.freeForm(fl.value)
	}
}

func (v *validator) boolean(n *strictjson.Node) {
	if n.Kind == strictjson.Null {
		v.Fail("type", "must be true or false, found null")
		return
	}
	v.kind(n, strictjson.Bool)
}

func (v *validator) number(l *level, p *inputprop.NumberProperty, n *strictjson.Node) {
	if n.Kind != strictjson.Number {
		v.Fail("type", "must be a whole number, found %s", strictjson.Show(n))
		return
	}
	whole, err := strictjson.ParseInt32(n.Text)
	if err != nil {
		v.Fail("int32", "%v, found %s", err, strictjson.ShowNumber(n.Text))
		return
	}
	v.within(p, whole)
	v.checkOption(v.allowed(l, p), n)
}

// within checks a number against min and max.
func (v *validator) within(p *inputprop.NumberProperty, n int32) {
	if p.Min != nil && n < *p.Min {
		v.Fail("min", "must be at least %d, found %s", *p.Min, strictjson.ShowNumber(strconv.Itoa(int(n))))
	}
	if p.Max != nil && n > *p.Max {
		v.Fail("max", "must be at most %d, found %s", *p.Max, strictjson.ShowNumber(strconv.Itoa(int(n))))
	}
}

func (v *validator) strings(l *level, p *inputprop.StringArrayProperty, n *strictjson.Node) {
	if !v.kind(n, strictjson.Array) {
		return
	}
	allowed := v.allowed(l, p)
	for i, item := range n.Items {
		v.Path.PushIndex(i)
		names := n.NamesOf(i)
		v.PushNames(names...)
		templated := v.resolver.isUnresolved(item) || v.isTemplate(item)
		if !templated && v.kind(item, strictjson.String) && v.itemText(item.Text, p.Patterns) {
			v.checkOption(allowed, item)
		}
		v.PopNames(names...)
		v.Path.Pop()
	}
}

// compound validates the fields of a chosen option. If the options are known, it must be one of them.
func (v *validator) compound(l *level, p *inputprop.CompoundProperty, n *strictjson.Node) {
	if !v.kind(n, strictjson.Object) {
		return
	}

	before := v.Count()
	for i, name := range n.Keys {
		v.Path.PushKey(name)
		switch n.Items[i].Kind {
		case strictjson.String, strictjson.Bool:
		case strictjson.Number:
			if _, err := strictjson.ParseInt32(n.Items[i].Text); err != nil {
				v.Fail("int32", "%v, found %s", err, strictjson.ShowNumber(n.Items[i].Text))
			}
		default:
			v.Fail("type", "must be a string, a whole number or a boolean, found %s", strictjson.Show(n.Items[i]))
		}
		v.Path.Pop()
	}

	for i, name := range p.Fields {
		if n.Get(name) == nil && slices.Index(p.Fields, name) == i {
			v.FailMember(name, "required", "is required, as one of the fields %s", strictjson.Listing(p.Fields))
		}
	}

	for _, name := range n.Keys {
		if slices.Index(p.Fields, name) < 0 {
			v.FailMember(name, "unknown_field",
				"is not one of the fields %s%s", strictjson.Listing(p.Fields), v.Hint(name, p.Fields))
		}
	}

	if v.Count() == before {
		v.checkOption(v.allowed(l, p), n)
	}
}

// instanceID is the form of the id of a module instance.
var instanceID = regexp.MustCompile(`^inst_[0-7][0-9a-hjkmnp-tv-z]{25}$`)

func (v *validator) reference(n *strictjson.Node) {
	switch {
	case !v.kind(n, strictjson.String):
	case n.Text == "":
		v.Fail("type", "must be the id of a module instance, or null for none, found an empty string")
	case !instanceID.MatchString(n.Text):
		v.Fail("format",
			"must be the id of a module instance, inst_ and 26 characters, found %s", strictjson.ShowText(n.Text))
	}
}

func (v *validator) repository(n *strictjson.Node) {
	if !v.kind(n, strictjson.String) || n.Text == "" || !v.text(n.Text, nil) {
		return
	}
	if flaw := inputprop.RepositoryFlaw(n.Text); flaw != "" {
		v.Fail("format", inputprop.RepositoryMessage, strictjson.ShowText(n.Text), flaw)
	}
}

func (v *validator) pairs(n *strictjson.Node) {
	if !v.kind(n, strictjson.Object) {
		return
	}
	for i, key := range n.Keys {
		v.Path.PushKey(key)
		if key == "" {
			v.Fail("key_empty", "must have a key that is not empty")
		}
		if v.kind(n.Items[i], strictjson.String) {
			v.text(n.Items[i].Text, nil)
		}
		v.Path.Pop()
	}
}

// CheckFree validates a value of no input by the rules that free-form values have, and adds its violations to those of
// a collector, at the collector's path.
func CheckFree(c *strictjson.Collector, n *strictjson.Node) {
	v := validator{Collector: c}
	v.freeForm(n)
}

// freeForm bounds the strings of free-form values, and refuses the numbers that a release would not keep.
func (v *validator) freeForm(n *strictjson.Node) {
	switch {
	case n.Kind == strictjson.String:
		v.text(n.Text, nil)
	case n.Kind == strictjson.Number && (v.released || !v.saving) && !strictjson.IsExact(n.Text):
		v.Fail("number_precision", strictjson.NumberPrecision, strictjson.ShowNumber(n.Text))
	}
	for i, item := range n.Items {
		v.Path.Push(n, i)
		names := n.NamesOf(i)
		v.PushNames(names...)
		v.freeForm(item)
		v.PopNames(names...)
		v.Path.Pop()
	}
}

// text validates the text of a field by its length and by patterns, which an empty one need not match, because a form
// leaves a field empty so. It reports whether the text is good.
func (v *validator) text(text string, patterns []inputprop.ValidationPattern) bool {
	return text == "" || v.itemText(text, patterns)
}

// line is text for a text of one line.
func (v *validator) line(text string, patterns []inputprop.ValidationPattern) bool {
	if at := strings.IndexAny(text, "\r\n"); at >= 0 {
		v.Fail("line_break",
			"must be one line, found a line break after %d characters; several lines need an input of the type text",
			utf8.RuneCountInString(text[:at]))
		return false
	}
	return v.text(text, patterns)
}

// itemText validates a text of a list, which is taken as it is, by its length and by patterns, and reports whether the
// text is good. Where values are saved with a schema, what is wrong with a pattern is reported at the pattern.
func (v *validator) itemText(text string, patterns []inputprop.ValidationPattern) bool {
	before := v.Count()
	if len(text) > inputprop.MaxText && utf8.RuneCountInString(text) > inputprop.MaxText {
		v.Fail("max_length", "must have at most %d characters, found %d", inputprop.MaxText, utf8.RuneCountInString(text))
		return false
	}
	for _, p := range patterns {
		ok, flaw := v.match.Test(p.Pattern, text)
		switch {
		case v.saving && (flaw.Rule == "pattern_syntax" || flaw.Rule == "pattern_limit"):
		case flaw.Rule != "":
			v.Fail(flaw.Rule, "%s, in %s", flaw.Message, strictjson.Quote(p.Pattern))
		case !ok:
			v.Fail("pattern", "must match %s, found %s: %s", strictjson.Quote(p.Pattern), strictjson.ShowText(text), p.Message)
		}
	}
	return v.Count() == before
}

// allowed are the values to choose from, in order; nil if the choice is free or not known.
type allowed struct {
	list  []*strictjson.Node
	index map[string]int
}

// choiceKey identifies what there is to choose from: an input, and the first of its options.
type choiceKey struct {
	input inputprop.Property
	first *inputprop.Option
}

// allowed returns the values that the property lets choose from.
func (v *validator) allowed(l *level, p inputprop.Property) *allowed {
	options, known := []inputprop.Option(nil), false
	if static, ok := p.ValueSource().(*inputprop.StaticValues); ok {
		options, known = static.Options, true
	} else if v.resolver != nil {
		options, known = v.resolver.options(l, p)
	}

	if !known {
		return nil
	}
	if len(options) == 0 {
		return &allowed{}
	}

	key := choiceKey{p, &options[0]}
	a, made := v.choices[key]
	if !made {
		a = allowedOf(p, options)
		if v.choices == nil {
			v.choices = map[choiceKey]*allowed{}
		}
		v.choices[key] = a
	}

	return a
}

// allowedOf makes options ready, for they are looked up for every item of a list.
func allowedOf(p inputprop.Property, options []inputprop.Option) *allowed {
	a := &allowed{list: make([]*strictjson.Node, len(options)), index: make(map[string]int, len(options))}
	for i, o := range options {
		a.list[i] = inputprop.ChosenValue(p, o)
		key := strictjson.Key(a.list[i])
		if _, again := a.index[key]; !again {
			a.index[key] = i
		}
	}
	return a
}

// position returns the place of a value among those allowed, or false if it is none of them.
func (a *allowed) position(n *strictjson.Node) (int, bool) {
	i, ok := a.index[strictjson.Key(n)]
	return i, ok
}

// checkOption refuses a value that is none of those to choose from. An empty text may be one of them or not.
func (v *validator) checkOption(a *allowed, n *strictjson.Node) {
	if a == nil {
		return
	}
	if _, ok := a.position(n); ok {
		return
	}
	if v.IsFull() { // a text would be made in vain
		v.Fail("not_in_values", "")
		return
	}

	names := make([]string, len(a.list))
	for i, option := range a.list[:min(len(a.list), strictjson.MaxListed)] {
		names[i] = string(option.JSON())
	}

	list := "the values, of which there are none"
	switch {
	case v.IsSecret():
		list = "the values"
	case len(names) > 0:
		list = strictjson.Listing(names)
	}

	v.Fail("not_in_values", "must be one of %s, found %s", list, strictjson.ShowJSON(n))
}
