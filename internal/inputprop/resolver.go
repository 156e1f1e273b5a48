package inputprop

import (
	"context"

	"slipway/internal/strictjson"

	"slipway/internal/meter"
)

// What values may come to at most, with the defaults and the conditions of every item, in bytes: a short
// list of items must not become an endless one. An input counts for fieldBytes besides.
const (
	maxEffective = 4 << 20
	fieldBytes   = 64
)

// maxFetches bounds the lists of dynamic values that one call asks for.
const maxFetches = 100

// resolver makes forms out of inputs and values.
type resolver struct {
	*strictjson.Collector
	ctx context.Context
	env *Env
	// saving is set while a default is judged: its templates stay as they are.
	saving bool
	// chosen is the reference that the place at hand is mapped from, and instance what is chosen for it.
	chosen   *field
	instance string
	size     int
	// defaulted is set while what is resolved is a default, which nobody has entered.
	defaulted bool
	// known are the lists that were asked for, looked the values at paths of instances.
	known  map[string][]Option
	looked map[[2]string]*strictjson.Node
	// open are the texts of defaults whose templates name what is not known here.
	open map[*strictjson.Node]bool
	// err is what kept the resolver from an answer.
	err error
}

func (r *resolver) level(p *plan, given, before *strictjson.Node) *form {
	f := &form{plan: p, before: before, fields: make([]field, len(p.inputs))}
	for i, in := range p.inputs {
		f.fields[i].in, f.fields[i].before = in, memberOf(before, in.id)
	}
	for i, key := range given.Keys {
		in, ok := p.byID[key]
		if !ok || in.traits.NoValue {
			f.stray = append(f.stray, key)
			continue
		}
		f.fields[in.index].entered = given.Items[i]
	}
	for _, in := range p.order {
		if r.err != nil || !r.afford(fieldBytes+in.work) {
			break
		}
		r.Path.PushKey(in.id)
		r.field(f, &f.fields[in.index])
		r.Path.Pop()
	}
	r.notLive(f)
	return f
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
		r.Fail("max_size", "must come to at most %d bytes with the defaults and conditions of every item, found more", maxEffective)
	}
	return r.size <= maxEffective
}

func (r *resolver) field(f *form, fl *field) {
	fl.visible = f.shows(fl.in)
	if !fl.visible || fl.in.traits.NoValue {
		return
	}
	if fl.in.owner != nil {
		owner := &f.fields[fl.in.owner.index]
		fl.instance = f.instance(fl.in.owner)
		if fl.unknown = owner.refused; fl.unknown {
			return
		}
		r.chosen, r.instance = owner, fl.instance
		defer func() { r.chosen, r.instance = nil, "" }()
	}
	switch fl.value = fl.entered; {
	case r.stays(f, fl):
		fl.value = fl.before
	case fl.instance != "" || fl.entered == nil:
		fl.value = r.begin(f, fl)
	}
	r.reference(fl)
	if fl.value != nil {
		defer func(outside bool) { r.defaulted = outside }(r.defaulted)
		r.defaulted = r.defaulted || fl.entered == nil
		r.collection(fl)
	}
	fl.open = r.isUnresolved(fl.value)
}

// begin is the value that an input has without one by hand, nil where there is none.
func (r *resolver) begin(f *form, fl *field) *strictjson.Node {
	in, b := fl.in, fl.in.begins()
	switch {
	case b.First:
		options, _ := r.options(f, in.property)
		if len(options) == 0 {
			return nil
		}
		return choice(in.property, options[0])
	case b.Node == nil || !r.afford(b.size):
		return nil
	case b.templated && !r.saving:
		return r.render(fl, b.Node)
	default:
		return b.Node
	}
}

// options are what there is to choose from, or false where that is not known.
func (r *resolver) options(f *form, p Property) ([]Option, bool) {
	switch v := p.ValueSource().(type) {
	case *StaticValues:
		return v.Options, true
	case *DynamicValuesRef:
		params, waits := f.params(v)
		if r.env.Options == nil || r.saving || len(waits) > 0 {
			return nil, false
		}
		return r.fetched(v.Source, params)
	}
	return nil, false
}

// fetched asks for the options of a source once.
func (r *resolver) fetched(source string, params map[string]string) ([]Option, bool) {
	key := string(strictjson.Encode([]any{source, params}))
	if options, ok := r.known[key]; ok {
		return options, true
	}
	if len(r.known) == maxFetches {
		r.Fail("max_fetches", "must need at most %d lists of dynamic values, found more", maxFetches)
		return nil, false
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
