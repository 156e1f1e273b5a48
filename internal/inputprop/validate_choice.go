package inputprop

import "slipway/internal/strictjson"

// allowed are the values to choose from, in order; nil where the choice is free or not known.
type allowed struct {
	list  []*strictjson.Node
	index map[string]int
}

// choiceKey tells what there is to choose from: an input, and the first of its options.
type choiceKey struct {
	input Property
	first *Option
}

func (v *validator) allowed(f *level, p Property) *allowed {
	options, known := []Option(nil), false
	if static, ok := p.ValueSource().(*StaticValues); ok {
		options, known = static.Options, true
	} else if v.resolver != nil {
		options, known = v.resolver.options(f, p)
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

// allowedOf makes options ready, which are looked up for every item of a list.
func allowedOf(p Property, options []Option) *allowed {
	a := &allowed{list: choicesOf(p, options), index: make(map[string]int, len(options))}
	for i, n := range a.list {
		if key := strictjson.Key(n); !a.has(key) {
			a.index[key] = i
		}
	}
	return a
}

func (a *allowed) has(key string) bool {
	_, ok := a.index[key]
	return ok
}

// position is the place of a value among those allowed, or false where it is none of them.
func (a *allowed) position(n *strictjson.Node) (int, bool) {
	i, ok := a.index[strictjson.Key(n)]
	return i, ok
}

// among judges a choice, of which an empty text is one only where it stands among the values.
func (v *validator) checkOption(f *level, p Property, n *strictjson.Node) {
	v.checkMember(v.allowed(f, p), n)
}

func (v *validator) checkMember(a *allowed, n *strictjson.Node) {
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
