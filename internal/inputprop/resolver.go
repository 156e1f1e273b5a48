package inputprop

import (
	"context"
	"strconv"
)

// What values may have at most with their defaults, in bytes: a short list of items must not become a
// very long one by the defaults of every item. An input counts for fieldBytes besides.
const (
	maxEffective = 4 << 20
	fieldBytes   = 64
)

// resolver makes forms out of inputs and values.
type resolver struct {
	*report
	ctx context.Context
	env *Env
	// saving is set while a default is judged: its templates stay as they are.
	saving bool
	// instance is what is chosen for the reference that the place at hand is mapped from.
	instance string
	size     int
	known    map[string][]Option
	// err is what kept the resolver from an answer.
	err error
}

func (r *resolver) level(p *plan, given *Node) *form {
	f := &form{plan: p, fields: make([]field, len(p.inputs))}
	for i, in := range p.inputs {
		f.fields[i].in = in
	}
	for i, key := range given.Keys {
		in, ok := p.byID[key]
		if !ok || isSection(in.Property) {
			f.stray = append(f.stray, key)
			continue
		}
		f.fields[in.index].entered = given.Items[i]
	}
	for _, in := range p.order {
		if r.err != nil || !r.afford(fieldBytes) {
			break
		}
		r.at.member(in.id)
		r.field(f, &f.fields[in.index])
		r.at.up()
	}
	return f
}

// afford says whether there is room for so many bytes more.
func (r *resolver) afford(bytes int) bool {
	before := r.size
	r.size += bytes
	if before <= maxEffective && r.size > maxEffective {
		r.fail("max_size", "must have at most %d bytes together with the defaults of every item, found more", maxEffective)
	}
	return r.size <= maxEffective
}

func isSection(p Property) bool {
	_, ok := p.(*SectionProperty)
	return ok
}

func (r *resolver) field(f *form, fl *field) {
	fl.visible = f.shows(fl.in)
	if !fl.visible || isSection(fl.in.Property) {
		return
	}
	if fl.in.owner != nil {
		fl.instance = f.instance(fl.in.owner)
		r.instance = fl.instance
		defer func() { r.instance = "" }()
	}
	fl.value = fl.entered
	if fl.instance != "" || fl.entered == nil {
		fl.value = r.begin(f, fl)
	}
	if fl.value != nil {
		r.collection(fl)
	}
}

// begin is the value that an input has without one by hand, nil where there is none.
func (r *resolver) begin(f *form, fl *field) *Node {
	in, b := fl.in, fl.in.begins()
	switch {
	case b.first:
		options, _ := r.options(f, in.Property)
		if len(options) == 0 {
			return nil
		}
		return choice(in.Property, options[0])
	case b.node == nil || !r.afford(b.size):
		return nil
	case b.templated && !r.saving:
		return r.render(fl, b.node)
	default:
		return b.node
	}
}

// options are what there is to choose from, or false where that is not known.
func (r *resolver) options(f *form, p Property) ([]Option, bool) {
	switch v := valuesOf(p).(type) {
	case *StaticValues:
		return v.Options, true
	case *DynamicValuesRef:
		params, waits := f.params(v)
		if r.env.Options == nil || r.saving || len(waits) > 0 {
			return nil, false
		}
		return r.fetched(v.Source, params)
	default:
		return nil, false
	}
}

// fetched asks for the options of a source once.
func (r *resolver) fetched(source string, params map[string]string) ([]Option, bool) {
	key := string(mustMarshal([]any{source, params}))
	if options, ok := r.known[key]; ok {
		return options, true
	}
	options, err := r.env.Options(r.ctx, source, params)
	if err != nil {
		r.err = err
		return nil, false
	}
	if r.known == nil {
		r.known = map[string][]Option{}
	}
	r.known[key] = options
	return options, true
}

// collection resolves each item within its own level, and puts the value together again.
func (r *resolver) collection(fl *field) {
	switch p := fl.in.Property.(type) {
	case *ObjectMapProperty:
		if fl.value.Kind == Object {
			r.entries(fl, fl.value.Keys)
			rekey(fl.entries, p.Key)
			fl.value = rebuilt(Object, fl.entries)
		}
	case *ObjectArrayProperty:
		if fl.value.Kind == Array {
			r.entries(fl, nil)
			fl.value = rebuilt(Array, fl.entries)
		}
	}
}

func (r *resolver) entries(fl *field, keys []string) {
	fl.entries = make([]entry, len(fl.value.Items))
	for i, item := range fl.value.Items {
		e := &fl.entries[i]
		e.node = item
		if keys != nil {
			e.key, e.given = keys[i], keys[i]
			r.at.member(keys[i])
		} else {
			e.given = strconv.Itoa(i)
			r.at.item(i)
		}
		if item.Kind == Object && r.err == nil && r.size <= maxEffective {
			e.form = r.level(fl.in.level(), item)
			e.node = e.form.values()
		}
		r.at.up()
	}
}

// rekey gives the entries their computed keys, unless one is empty or there twice: an object cannot
// have such keys, and Validate names them.
func rekey(entries []entry, c *MapKeyConfig) {
	if len(c.sources()) == 0 {
		return
	}
	keys := make([]string, len(entries))
	taken := make(map[string]bool, len(entries))
	for i, e := range entries {
		if e.form == nil {
			return
		}
		keys[i] = e.form.computedKey(c)
		if keys[i] == "" || taken[keys[i]] {
			return
		}
		taken[keys[i]] = true
	}
	for i, key := range keys {
		entries[i].key = key
	}
}

func rebuilt(kind Kind, entries []entry) *Node {
	n := &Node{Kind: kind, Items: make([]*Node, len(entries))}
	for i, e := range entries {
		n.Items[i] = e.node
		if kind == Object {
			n.Keys = append(n.Keys, e.key)
		}
	}
	return n
}
