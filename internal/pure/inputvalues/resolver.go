package inputvalues

import (
	"context"
	"slices"
	"strings"

	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// What values may come to at most, with the defaults and the conditions of every item, in bytes: a short
// list of items must not become an endless one. An input counts for fieldBytes besides.
const (
	maxEffective = 4 << 20
	fieldBytes   = 64
)

// resolver makes levels of fields out of inputs and values.
type resolver struct {
	*strictjson.Collector
	ctx context.Context
	env *Env
	// match judges what is remembered.
	match *Matcher
	// saving is set for defaults that are saved with a schema: their templates stay as they are.
	saving bool
	// released is set for the values of a release, which are complete: nothing is added to them.
	released bool
	// unlooked is set once there was a reference of which nobody has looked what it chooses.
	unlooked bool
	// outlining is set while what is inside of collections does not matter.
	outlining bool
	// chosen is the reference that the current field is mapped from, and instance what is chosen for it.
	chosen   *field
	instance string
	// size is what the values come to so far.
	size int
	// defaulted is set while what is resolved is a default, which nobody has entered.
	defaulted bool
	// fetchedLists are the lists that were asked for, lookedUp the values at paths of instances.
	fetchedLists map[string][]inputprop.Option
	lookedUp     map[[2]string]*strictjson.Node
	// unresolvedTexts are the texts of defaults whose templates name what is not known here.
	unresolvedTexts map[*strictjson.Node]bool
	// err is what kept the resolver from an answer.
	err error
}

func newResolver(ctx context.Context, env *Env, at string) *resolver {
	return &resolver{Collector: strictjson.NewCollector(at), ctx: ctx, env: env}
}

// rootLevel resolves the values of a list of inputs, nil for none.
func (r *resolver) rootLevel(list []inputprop.Property, values *strictjson.Node) *level {
	if values == nil {
		values = &strictjson.Node{Kind: strictjson.Object}
	}
	if values.Kind != strictjson.Object {
		r.Fail("type", "must be an object of values by the ids of their inputs, found %s", strictjson.Show(values))
	}
	if r.err = r.ctx.Err(); r.err != nil {
		return nil
	}
	return r.level(inputprop.NewLevel(list), values, r.env.Previous)
}

// level resolves the given values of a level, against those before.
func (r *resolver) level(p *inputprop.Level, given, before *strictjson.Node) *level {
	l := &level{inputs: p, before: before, fields: make([]field, len(p.Inputs))}
	for i, in := range p.Inputs {
		l.fields[i].in, l.fields[i].before = in, memberOf(before, in.ID)
	}

	for i, key := range given.Keys {
		in, ok := p.ByID[key]
		if !ok || in.Traits.NoValue {
			l.unknownKeys = append(l.unknownKeys, key)
			continue
		}
		l.fields[in.Index].entered = given.Items[i]
	}

	for _, in := range p.Order {
		if r.err != nil || !r.afford(fieldBytes+in.Cost) {
			break
		}
		r.Path.PushKey(in.ID)
		r.field(l, &l.fields[in.Index])
		r.Path.Pop()
	}

	r.notLive(l)
	return l
}

// field resolves an input, after those that it depends on.
func (r *resolver) field(l *level, fl *field) {
	fl.visible = l.isVisible(fl.in)
	if !fl.visible || fl.in.Traits.NoValue {
		return
	}

	if fl.in.Owner != nil {
		owner := &l.fields[fl.in.Owner.Index]
		fl.instance = l.instance(fl.in.Owner)
		if fl.unknown = owner.refused; fl.unknown {
			return
		}
		r.chosen, r.instance = owner, fl.instance
		defer func() { r.chosen, r.instance = nil, "" }()
	}

	r.hold(l, fl)
	switch fl.value = fl.entered; {
	case r.released:
	case r.keepsPrevious(l, fl):
		fl.value, fl.kept = fl.before, true
	case fl.instance != "" || fl.entered == nil:
		fl.value = r.initialValue(l, fl)
	}

	r.reference(fl)
	if fl.value != nil {
		defer func(outside bool) { r.defaulted = outside }(r.defaulted)
		r.defaulted = r.defaulted || fl.entered == nil
		r.collection(fl)
	}

	fl.unresolved = r.isUnresolved(fl.value)
}

// keepsPrevious reports whether a field keeps its value before: an immutable one that nobody has entered. If a chosen
// instance gives the value, that holds while the instance is the same.
func (r *resolver) keepsPrevious(l *level, fl *field) bool {
	if fl.entered != nil && !r.defaulted || !fl.in.Traits.Immutable || fl.bound == nil {
		return false
	}
	if fl.instance == "" {
		return true
	}
	chosenBefore := l.fields[fl.in.Owner.Index].before
	return isValue(chosenBefore) && chosenBefore.Text == fl.instance
}

// initialValue returns the value that an input has if none is entered, nil if there is none.
func (r *resolver) initialValue(l *level, fl *field) *strictjson.Node {
	in, initial := fl.in, fl.in.Initial()
	switch {
	case initial.First:
		options, _ := r.options(l, in.Property)
		if len(options) == 0 {
			return nil
		}
		return inputprop.ChosenValue(in.Property, options[0])
	case initial.Node == nil || !r.afford(initial.Size):
		return nil
	case initial.Templated && !r.saving:
		return r.render(fl, initial.Node)
	default:
		return initial.Node
	}
}

// reference refuses an instance that may not be chosen. What its mapped inputs would be is then not known, and not
// asked for.
func (r *resolver) reference(fl *field) {
	moduleType := fl.in.Traits.ModuleType
	isChoice := moduleType != "" && fl.value != nil && fl.value.Kind == strictjson.String && fl.value.Text != ""
	if !isChoice || r.env.Reference == nil {
		return
	}
	if fl.refused = !instanceID.MatchString(fl.value.Text); fl.refused {
		return // which the validator says
	}
	flaw, known := r.env.Reference(fl.value.Text, moduleType)
	r.unlooked = r.unlooked || !known
	if flaw != "" {
		fl.refused = true
		r.Fail("reference", "%s", flaw)
	}
}

// notLive refuses the references of a level that have nothing live for their mapped inputs to be read from.
func (r *resolver) notLive(l *level) {
	for i := range l.fields {
		if fl := &l.fields[i]; fl.notLive {
			r.Path.PushKey(fl.in.ID)
			r.Fail("reference_not_live",
				"must be an instance that has a live deployment, because mapped inputs are read from it; %s has none",
				strictjson.ShowText(fl.value.Text))
			r.Path.Pop()
		}
	}
}

// afford reports whether there is room for so many bytes more, in the values and in what the request may
// work on.
func (r *resolver) afford(bytes int) bool {
	if err := meter.Spend(r.ctx, meter.Inputs, bytes); err != nil {
		r.err = err
		return false
	}
	before := r.size
	r.size += bytes
	if before <= maxEffective && r.size > maxEffective {
		r.Fail("max_size",
			"must come to at most %d bytes with the defaults and conditions of every item, found more", maxEffective)
	}
	return r.size <= maxEffective
}

// render fills the templates in every string of a default; the result is nil if one cannot be
// filled.
func (r *resolver) render(fl *field, n *strictjson.Node) *strictjson.Node {
	if n.Kind == strictjson.String {
		return r.renderText(fl, n)
	}
	if len(n.Items) == 0 {
		return n
	}
	full := &strictjson.Node{Kind: n.Kind, Keys: n.Keys, Items: make([]*strictjson.Node, len(n.Items))}
	for i, item := range n.Items {
		r.Path.Push(n, i)
		full.Items[i] = r.render(fl, item)
		r.Path.Pop()
		if full.Items[i] == nil {
			return nil
		}
	}
	return full
}

// renderText fills a text. One template alone becomes what it stands for, whatever its type; within a
// text, only what people can read has a place.
func (r *resolver) renderText(fl *field, n *strictjson.Node) *strictjson.Node {
	pieces, err := inputprop.ParseTemplate(n.Text)
	if err != nil {
		r.Fail("template_syntax", "%v", err)
		return nil
	}

	if r.isUnknown(pieces) {
		return r.leaveUnresolved(n)
	}
	if len(pieces) == 1 && pieces[0].Name != "" {
		return r.withinDepth(r.lookUp(fl, pieces[0].Name))
	}

	size := 0
	for i, p := range pieces {
		if p.Name != "" {
			value := r.lookUp(fl, p.Name)
			if value == nil {
				return nil
			}
			if value.Kind == strictjson.Object || value.Kind == strictjson.Array || value.Kind == strictjson.Null {
				r.Fail("template_type",
					"must have a text, a number or a boolean for %s within a text, found %s", p.Name, strictjson.Show(value))
				return nil
			}
			pieces[i].Text = plainText(value)
		}
		size += len(pieces[i].Text)
	}

	if !r.afford(size) {
		return nil
	}
	return textNode(joined(pieces, size))
}

// isUnknown reports whether a template among the pieces names something of a place that is not known here.
func (r *resolver) isUnknown(pieces []inputprop.Piece) bool {
	for _, p := range pieces {
		if text, ok := r.env.text(p.Name); ok && text == "" {
			return true
		}
	}
	return false
}

// leaveUnresolved keeps a text with its templates as it is, and remembers that it is none that somebody entered.
func (r *resolver) leaveUnresolved(n *strictjson.Node) *strictjson.Node {
	text := *n
	if r.unresolvedTexts == nil {
		r.unresolvedTexts = map[*strictjson.Node]bool{}
	}
	r.unresolvedTexts[&text] = true
	return &text
}

// isUnresolved reports whether anything in a value was left with its templates.
func (r *resolver) isUnresolved(n *strictjson.Node) bool {
	if r == nil || len(r.unresolvedTexts) == 0 || n == nil {
		return false
	}
	return r.unresolvedTexts[n] || slices.ContainsFunc(n.Items, r.isUnresolved)
}

// unresolved adds the pointers of the texts in a value that were left with their templates; at leads to it.
func (r *resolver) unresolved(list *[]string, at *strictjson.Path, n *strictjson.Node) {
	if len(r.unresolvedTexts) == 0 || n == nil || r.err != nil {
		return
	}
	if r.unresolvedTexts[n] {
		pointer := at.Pointer("")
		r.err = meter.Answer(r.ctx, meter.Made, len(pointer))
		*list = append(*list, pointer)
	}
	for i, item := range n.Items {
		at.Push(n, i)
		r.unresolved(list, at, item)
		at.Pop()
	}
}

// withinDepth returns the value of an instance, nil if it would be nested too deep here.
func (r *resolver) withinDepth(n *strictjson.Node) *strictjson.Node {
	if n == nil || len(r.Path)+n.Levels() <= strictjson.MaxLevels {
		return n
	}
	r.Fail("max_depth", "must be nested at most %d levels deep, found %d in the chosen instance",
		strictjson.MaxLevels, len(r.Path)+n.Levels())
	return nil
}

// joined returns the text of pieces that have size bytes together.
func joined(pieces []inputprop.Piece, size int) string {
	var b strings.Builder
	b.Grow(size)
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}
