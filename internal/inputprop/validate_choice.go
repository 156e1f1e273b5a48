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

func (j *judge) allowed(f *form, p Property) *allowed {
	options, known := []Option(nil), false
	if v, ok := p.ValueSource().(*StaticValues); ok {
		options, known = v.Options, true
	} else if j.resolver != nil {
		options, known = j.resolver.options(f, p)
	}
	if !known {
		return nil
	}
	if len(options) == 0 {
		return &allowed{}
	}
	key := choiceKey{p, &options[0]}
	a, made := j.choices[key]
	if !made {
		a = allowedOf(p, options)
		if j.choices == nil {
			j.choices = map[choiceKey]*allowed{}
		}
		j.choices[key] = a
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
func (j *judge) among(f *form, p Property, n *strictjson.Node) { j.member(j.allowed(f, p), n) }

func (j *judge) member(a *allowed, n *strictjson.Node) {
	if a == nil {
		return
	}
	if _, ok := a.position(n); ok {
		return
	}
	if j.IsFull() { // a text would be made in vain
		j.Fail("not_in_values", "")
		return
	}
	names := make([]string, len(a.list))
	for i, option := range a.list[:min(len(a.list), strictjson.MaxListed)] {
		names[i] = string(option.JSON())
	}
	list := "the values, of which there are none"
	switch {
	case j.IsSecret():
		list = "the values"
	case len(names) > 0:
		list = strictjson.Listing(names)
	}
	j.Fail("not_in_values", "must be one of %s, found %s", list, strictjson.ShowJSON(n))
}
