package inputvalues

import (
	"context"
	"strconv"

	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
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
	// References are the instances that inputs choose, in the order of the form; only Complete finds them.
	References []Reference
	// Warnings are of mapped inputs that are left out; whoever asked may add those of the inputs.
	Warnings []inputprop.Warning
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
	// Title is never empty but for an empty key. Description is empty if there is none, or if one of
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

// Resolve returns what a form shows for the values, an object or nil. The violations are of values that
// cannot be made out, with pointers that start with at; what is wrong with given ones is Validate's. The
// error is of env's functions or of the context.
func (e *Engine) Resolve(
	ctx context.Context, list []inputprop.Property, values *strictjson.Node, at string, env Env,
) (*Resolved, []fault.Violation, error) {
	r := e.resolver(ctx, &env, at)
	return r.show(r.rootLevel(list, values), false)
}

// Complete validates the values as Examine does, and resolves those in which nothing is wrong as Resolve does, both in
// one pass. It also returns their references.
func (e *Engine) Complete(
	ctx context.Context, list []inputprop.Property, values *strictjson.Node, at string, env Env,
) (*Resolved, []fault.Violation, error) {
	r := e.resolver(ctx, &env, at)
	l := r.rootLevel(list, values)
	found, err := e.examine(r, l, values)
	switch {
	case err != nil:
		return nil, nil, err
	case len(found.Violations) > 0:
		return nil, found.Violations, nil
	default:
		return r.show(l, true)
	}
}

// show returns what a form shows of the level that the resolver has made, with its references if they are asked for.
func (r *resolver) show(l *level, references bool) (*Resolved, []fault.Violation, error) {
	if r.err != nil {
		return nil, nil, r.err
	}
	s := &showing{resolver: r, resolved: &Resolved{Values: l.values()}, references: references}
	s.level(l)
	if r.err != nil {
		return nil, nil, r.err
	}
	return s.resolved, r.Violations(), nil
}

// showing collects what is shown on every level.
type showing struct {
	// path leads to what is shown.
	path     strictjson.Path
	resolver *resolver
	resolved *Resolved
	// references is set where these are collected.
	references bool
}

// afford reports whether there is room for so many bytes more in the answer, which so many bytes are read
// for.
func (s *showing) afford(made, read int) bool {
	r := s.resolver
	if r.err == nil {
		r.err = meter.Answer(r.ctx, meter.Made, made)
	}
	if r.err == nil {
		r.err = meter.Spend(r.ctx, meter.Inputs, read)
	}
	return r.err == nil
}

// level describes a level and those below it.
func (s *showing) level(l *level) {
	pointer := s.path.Pointer("")
	if !s.afford(len(pointer)+l.shownBytes(), 0) {
		return
	}
	i := len(s.resolved.Levels)
	s.resolved.Levels = append(s.resolved.Levels, Level{Pointer: pointer, Groups: groups(l)})
	for j := range l.fields {
		fl := &l.fields[j]
		if !fl.visible || s.resolver.err != nil {
			continue
		}
		s.resolved.Levels[i].Visible = append(s.resolved.Levels[i].Visible, fl.in.ID)
		s.path.PushKey(fl.in.ID)
		s.field(l, fl)
		s.path.Pop()
	}
}

func (s *showing) field(l *level, fl *field) {
	if s.references {
		s.reference(fl)
	}

	if ref := inputprop.DynamicRef(fl.in.Property); ref != nil {
		params, waits := l.params(ref)
		s.afford(wantedBytes(params, waits), 0)
		s.resolved.Options = append(s.resolved.Options, Wanted{s.path.Pointer(""), ref.Source, params, waits})
	}

	s.resolver.warn(&s.resolved.Warnings, &s.path, fl)
	if fl.unresolved && fl.entries == nil {
		s.resolver.unresolved(&s.resolved.Unresolved, &s.path, fl.value)
	}

	for i := range fl.entries {
		e := &fl.entries[i]
		if e.key != "" || fl.value.Kind == strictjson.Object {
			s.path.PushKey(e.key)
		} else {
			s.path.PushIndex(i)
		}
		s.item(fl.in.Nested, e, i)
		s.path.Pop()
	}
}

func (s *showing) item(nested inputprop.Nested, e *entry, index int) {
	if e.level == nil {
		return
	}
	shown := Item{Pointer: s.path.Pointer(""), Key: e.key}
	if !s.afford(len(shown.Pointer)+len(shown.Key), 0) {
		return
	}
	if nested.Collection == strictjson.Object {
		shown.Title = s.title(e.level, nested.Title, &e.key, e.key)
	} else {
		shown.Title = s.title(e.level, nested.Title, nil, nested.Label+" "+strconv.Itoa(index+1))
	}
	if nested.Description != nil {
		shown.Description, _ = s.filled(e.level, *nested.Description, nil)
	}
	s.resolved.Items = append(s.resolved.Items, shown)
	s.level(e.level)
}

// title returns the filled template; if that fails its fallback, and else plain.
func (s *showing) title(l *level, c *inputprop.ObjectCollectionItemTitleConfig, key *string, plain string) string {
	if c == nil {
		s.afford(len(plain), 0)
		return plain
	}
	if text, ok := s.filled(l, c.Template, key); ok && text != "" {
		return text
	}
	if c.Fallback != nil && *c.Fallback != "" {
		plain = *c.Fallback
	}
	s.afford(len(plain), 0)
	return plain
}

// shownBytes returns about how many bytes it takes to name the visible inputs of the level, and those of them that
// are in a group again.
func (l *level) shownBytes() (sum int) {
	for i := range l.fields {
		if fl := &l.fields[i]; fl.visible {
			sum += len(fl.in.ID) + 4
			if fl.in.Traits.Collapsible {
				sum += len(fl.in.ID) + 4
			}
		}
	}
	return sum
}

// wantedBytes returns about how many bytes it takes to say what a list waits for.
func wantedBytes(params map[string]string, waits []string) (sum int) {
	for name, text := range params {
		sum += len(name) + len(text) + 8
	}
	for _, id := range waits {
		sum += len(id) + 4
	}
	return sum
}

// groups returns the runs of collapsible inputs that follow one another once what is hidden is gone. A
// section, or an input that is not collapsible, ends one.
func groups(l *level) [][]string {
	var all [][]string
	var run []string
	end := func() {
		if run != nil {
			all, run = append(all, run), nil
		}
	}

	for i := range l.fields {
		fl := &l.fields[i]
		if !fl.visible {
			continue
		}

		if fl.in.Traits.Collapsible {
			run = append(run, fl.in.ID)
			continue
		}
		end()
	}

	end()
	return all
}

// filled returns the text with its placeholders filled, or false if one of them has no text.
func (s *showing) filled(l *level, text string, key *string) (string, bool) {
	pieces, err := inputprop.ParseTitle(text)
	if err != nil {
		return "", false
	}

	size := 0
	for i, p := range pieces {
		if p.Name != "" {
			pieces[i].Text = l.plainText(p.Name)
			if p.Name == inputprop.KeyPlaceholder && key != nil {
				pieces[i].Text = *key
			}
			if pieces[i].Text == "" {
				return "", false
			}
		}
		size += len(pieces[i].Text)
	}

	if !s.afford(size, len(text)) {
		return "", false
	}
	return joined(pieces, size), true
}
