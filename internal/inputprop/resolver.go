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
	fetchedLists map[string][]Option
	lookedUp     map[[2]string]*strictjson.Node
	// open are the texts of defaults whose templates name what is not known here.
	unresolvedTexts map[*strictjson.Node]bool
	// err is what kept the resolver from an answer.
	err error
}

func (r *resolver) level(p *SchemaLevel, given, before *strictjson.Node) *level {
	f := &level{inputs: p, before: before, fields: make([]field, len(p.Inputs))}
	for i, in := range p.Inputs {
		f.fields[i].in, f.fields[i].before = in, memberOf(before, in.ID)
	}
	for i, key := range given.Keys {
		in, ok := p.ByID[key]
		if !ok || in.Traits.NoValue {
			f.unknownKeys = append(f.unknownKeys, key)
			continue
		}
		f.fields[in.Index].entered = given.Items[i]
	}
	for _, in := range p.Order {
		if r.err != nil || !r.afford(fieldBytes+in.Cost) {
			break
		}
		r.Path.PushKey(in.ID)
		r.field(f, &f.fields[in.Index])
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

func (r *resolver) field(f *level, fl *field) {
	fl.visible = f.isVisible(fl.in)
	if !fl.visible || fl.in.Traits.NoValue {
		return
	}
	if fl.in.Owner != nil {
		owner := &f.fields[fl.in.Owner.Index]
		fl.instance = f.instance(fl.in.Owner)
		if fl.unknown = owner.refused; fl.unknown {
			return
		}
		r.chosen, r.instance = owner, fl.instance
		defer func() { r.chosen, r.instance = nil, "" }()
	}
	switch fl.value = fl.entered; {
	case r.keepsPrevious(f, fl):
		fl.value = fl.before
	case fl.instance != "" || fl.entered == nil:
		fl.value = r.initialValue(f, fl)
	}
	r.reference(fl)
	if fl.value != nil {
		defer func(outside bool) { r.defaulted = outside }(r.defaulted)
		r.defaulted = r.defaulted || fl.entered == nil
		r.collection(fl)
	}
	fl.unresolved = r.isUnresolved(fl.value)
}

// begin is the value that an input has without one by hand, nil where there is none.
func (r *resolver) initialValue(f *level, fl *field) *strictjson.Node {
	in, b := fl.in, fl.in.Initial()
	switch {
	case b.First:
		options, _ := r.options(f, in.Property)
		if len(options) == 0 {
			return nil
		}
		return ChosenValue(in.Property, options[0])
	case b.Node == nil || !r.afford(b.Size):
		return nil
	case b.Templated && !r.saving:
		return r.render(fl, b.Node)
	default:
		return b.Node
	}
}

// options are what there is to choose from, or false where that is not known.
func (r *resolver) options(f *level, p Property) ([]Option, bool) {
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
	if options, ok := r.fetchedLists[key]; ok {
		return options, true
	}
	if len(r.fetchedLists) == maxFetches {
		r.Fail("max_fetches", "must need at most %d lists of dynamic values, found more", maxFetches)
		return nil, false
	}
	options, err := r.env.Options(r.ctx, source, params)
	if err != nil {
		r.err = err
		return nil, false
	}
	if r.fetchedLists == nil {
		r.fetchedLists = map[string][]Option{}
	}
	r.fetchedLists[key] = options
	return options, true
}
