package inputprop

import (
	"context"
	"strconv"

	"slipway/internal/strictjson"

	"slipway/internal/fault"
	"slipway/internal/meter"
)

// Resolved is what a form shows for some values. Its pointers lead into Values.
type Resolved struct {
	// Values are those that count: given ones and defaults of what is visible, under computed keys. It is
	// what a deployment stores.
	Values *strictjson.Node
	// Levels are the root, and each item of a collection.
	Levels []Level
	// Items are the items of all collections.
	Items []Item
	// Options are the lists that the form has to ask for.
	Options []Wanted
	// Unresolved are the places of defaults whose templates name what is not known; they are left as they are.
	Unresolved []string
	// Warnings are of the inputs: defaults that count as absent.
	Warnings []Warning
}

// Level is an object whose members are inputs.
type Level struct {
	Pointer string
	// Visible are the ids of the inputs that are shown, in order.
	Visible []string
	// Groups are the runs of visible collapsible inputs that follow one another.
	Groups [][]string
}

// Item is an item of a collection as it is shown folded.
type Item struct {
	Pointer string
	// Key is the key in a map, as it was computed or given; empty in an array.
	Key string
	// Title is never empty but for an empty key. Description is empty where there is none, or where one of
	// its placeholders has no text.
	Title, Description string
}

// Wanted is a list of dynamic values that an input chooses from.
type Wanted struct {
	Pointer, Source string
	// Params are the source's parameters so far.
	Params map[string]string
	// Waits are the ids of the inputs that must have a value before the list can be asked for.
	Waits []string
}

// Resolve gives what a form shows for the values, an object or nil. The violations are of values that
// cannot be made out, with pointers that start with at; what is wrong with given ones is Validate's. The
// error is of env's functions or of the context.
func (e *Engine) Resolve(ctx context.Context, list []Property, values *strictjson.Node, at string, env Env) (*Resolved, []fault.Violation, error) {
	r := newResolver(ctx, &env, at)
	return r.show(r.root(list, values))
}

// Complete judges the values as Examine does, and resolves those in which nothing is wrong as Resolve does, both in one
// pass.
func (e *Engine) Complete(ctx context.Context, list []Property, values *strictjson.Node, at string, c Context) (*Resolved, []fault.Violation, error) {
	r := newResolver(ctx, &c.Env, at)
	f := r.root(list, values)
	found, err := e.examine(r, f, values)
	switch {
	case err != nil:
		return nil, nil, err
	case len(found.Violations) > 0:
		return nil, found.Violations, nil
	default:
		return r.show(f)
	}
}

// show returns what a form shows that the resolver has made.
func (r *resolver) show(f *form) (*Resolved, []fault.Violation, error) {
	if r.err != nil {
		return nil, nil, r.err
	}
	s := &showing{Collector: strictjson.NewCollector(""), ctx: r.ctx, resolver: r, resolved: &Resolved{Values: f.values()}}
	s.level(f)
	if s.err == nil {
		s.err = r.err
	}
	if s.err != nil {
		return nil, nil, s.err
	}
	return s.resolved, r.Violations(), nil
}

func newResolver(ctx context.Context, env *Env, at string) *resolver {
	return &resolver{Collector: strictjson.NewCollector(at), ctx: ctx, env: env}
}

func (r *resolver) root(list []Property, values *strictjson.Node) *form {
	if values == nil {
		values = &strictjson.Node{Kind: strictjson.Object}
	}
	if values.Kind != strictjson.Object {
		r.Fail("type", "must be an object of values by the ids of their inputs, found %s", strictjson.Show(values))
	}
	if r.err = r.ctx.Err(); r.err != nil {
		return nil
	}
	return r.level(planOf(list), values, r.env.Previous)
}

// showing collects what is shown on every level.
type showing struct {
	*strictjson.Collector
	ctx      context.Context
	resolver *resolver
	resolved *Resolved
	// err is what kept it from an answer.
	err error
}

// afford reports whether there is room for so many bytes more in the answer, which so many bytes are read
// for.
func (s *showing) afford(made, read int) bool {
	if s.err == nil {
		s.err = meter.Answer(s.ctx, meter.Made, made)
	}
	if s.err == nil {
		s.err = meter.Spend(s.ctx, meter.Inputs, read)
	}
	return s.err == nil
}

func (s *showing) level(f *form) {
	pointer := s.Path.Pointer("")
	if !s.afford(len(pointer)+f.shownBytes(), 0) {
		return
	}
	i := len(s.resolved.Levels)
	s.resolved.Levels = append(s.resolved.Levels, Level{Pointer: pointer, Groups: groups(f)})
	for j := range f.fields {
		fl := &f.fields[j]
		if !fl.visible || s.err != nil {
			continue
		}
		s.resolved.Levels[i].Visible = append(s.resolved.Levels[i].Visible, fl.in.id)
		s.Path.PushKey(fl.in.id)
		s.field(f, fl)
		s.Path.Pop()
	}
}

func (s *showing) field(f *form, fl *field) {
	if ref := dynamic(fl.in.Property); ref != nil {
		params, waits := f.params(ref)
		s.afford(wantedBytes(params, waits), 0)
		s.resolved.Options = append(s.resolved.Options, Wanted{s.Path.Pointer(""), ref.Source, params, waits})
	}
	if fl.open && fl.entries == nil {
		s.resolver.unresolved(&s.resolved.Unresolved, &s.Path, fl.value)
	}
	for i := range fl.entries {
		e := &fl.entries[i]
		if e.key != "" || fl.value.Kind == strictjson.Object {
			s.Path.PushKey(e.key)
		} else {
			s.Path.PushIndex(i)
		}
		s.item(fl.in.Property, e, i)
		s.Path.Pop()
	}
}

func (s *showing) item(p Property, e *entry, index int) {
	if e.form == nil {
		return
	}
	shown := Item{Pointer: s.Path.Pointer(""), Key: e.key}
	if !s.afford(len(shown.Pointer)+len(shown.Key), 0) {
		return
	}
	switch p := p.(type) {
	case *ObjectMapProperty:
		shown.Title = s.title(e.form, p.ItemTitle, &e.key, e.key)
	case *ObjectArrayProperty:
		label := "Item"
		if p.ItemLabel != nil {
			label = *p.ItemLabel
		}
		shown.Title = s.title(e.form, p.ItemTitle, nil, label+" "+strconv.Itoa(index+1))
		if p.ItemDescription != nil {
			shown.Description, _ = s.filled(e.form, *p.ItemDescription, nil)
		}
	}
	s.resolved.Items = append(s.resolved.Items, shown)
	s.level(e.form)
}

// title fills the template; where that fails there is its fallback, and else plain.
func (s *showing) title(f *form, c *ObjectCollectionItemTitleConfig, key *string, plain string) string {
	if c == nil {
		s.afford(len(plain), 0)
		return plain
	}
	if text, ok := s.filled(f, c.Template, key); ok && text != "" {
		return text
	}
	if c.Fallback != nil && *c.Fallback != "" {
		plain = *c.Fallback
	}
	s.afford(len(plain), 0)
	return plain
}

// shownBytes is about how many bytes it takes to name the visible inputs of the level, and those of them that
// are in a group again.
func (f *form) shownBytes() (sum int) {
	for i := range f.fields {
		if fl := &f.fields[i]; fl.visible {
			sum += len(fl.in.id) + 4
			if c, ok := fl.in.Property.(interface{ IsCollapsible() bool }); ok && c.IsCollapsible() {
				sum += len(fl.in.id) + 4
			}
		}
	}
	return sum
}

// wantedBytes is about how many bytes it takes to tell what a list waits for.
func wantedBytes(params map[string]string, waits []string) (sum int) {
	for name, text := range params {
		sum += len(name) + len(text) + 8
	}
	for _, id := range waits {
		sum += len(id) + 4
	}
	return sum
}
