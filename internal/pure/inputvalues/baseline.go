package inputvalues

import (
	"context"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// maxUndeclared bounds, on each level, the values that are kept of inputs which a version has no more: as many as a
// module may have inputs.
const maxUndeclared = 500

// Baseline returns what inputs that are immutable, or keep a minimum, are held to once a deployment of the values has
// succeeded; before is what they were held to until then, nil for nothing. Of each such input it has the value of the
// last success that had it: what is hidden stays, an item that was removed is forgotten.
func Baseline(list []inputprop.Property, values, before *strictjson.Node) *strictjson.Node {
	// The context is none of a request's, because what has happened is not refused for what it costs.
	r := newResolver(context.Background(), &Env{Previous: before}, "")
	r.released = true
	return baselineOf(r.rootLevel(list, values))
}

func baselineOf(l *level) *strictjson.Node {
	n := &strictjson.Node{Kind: strictjson.Object}
	keep := func(id string, value *strictjson.Node) {
		if value != nil {
			n.Keys, n.Items = append(n.Keys, id), append(n.Items, value)
		}
	}

	for i := range l.fields {
		fl := &l.fields[i]
		keep(fl.in.ID, fl.baseline())
	}

	undeclared := 0
	if l.before != nil && l.before.Kind == strictjson.Object {
		for i, id := range l.before.Keys {
			if l.inputs.ByID[id] == nil && undeclared < maxUndeclared {
				undeclared++
				keep(id, l.before.Items[i])
			}
		}
	}

	return n
}

// baseline returns what the field is compared with from now on, nil for nothing. A value that was once kept is kept up
// to date, also by versions in which the input may change.
func (fl *field) baseline() *strictjson.Node {
	switch {
	case !fl.visible:
		return fl.before
	case fl.in.Nested.IsCollection() && !fl.in.Traits.Immutable:
		return fl.itemBaselines()
	case isValue(fl.entered) && (fl.in.Traits.IsHeld() || fl.before != nil):
		return fl.entered
	default:
		return fl.before
	}
}

// itemBaselines returns an entry for each item that there is. In a list it also returns one for each item of which
// nothing is kept, so that positions stay.
func (fl *field) itemBaselines() *strictjson.Node {
	if !isValue(fl.entered) {
		return nil
	}

	kept := false
	n := &strictjson.Node{Kind: fl.entered.Kind}
	for _, e := range fl.entries {
		item := &strictjson.Node{Kind: strictjson.Object}
		if e.level != nil {
			item = baselineOf(e.level)
		}
		kept = kept || len(item.Keys) > 0
		switch {
		case n.Kind == strictjson.Array:
			n.Items = append(n.Items, item)
		case len(item.Keys) > 0:
			n.Keys, n.Items = append(n.Keys, e.key), append(n.Items, item)
		}
	}

	if !kept {
		return nil
	}
	return n
}

// Overlay returns live values together with what a baseline has besides them, null being no value. The baseline must
// know of the release that has the values.
func Overlay(live, baseline *strictjson.Node) *strictjson.Node {
	switch {
	case live == nil, live.Kind == strictjson.Null && baseline != nil:
		return baseline
	case baseline == nil || live.Kind != baseline.Kind:
		return live
	case live.Kind == strictjson.Array && len(live.Items) == len(baseline.Items):
		n := &strictjson.Node{Kind: strictjson.Array}
		for i, item := range live.Items {
			n.Items = append(n.Items, Overlay(item, baseline.Items[i]))
		}
		return n
	case live.Kind != strictjson.Object:
		return live
	}

	n := &strictjson.Node{Kind: strictjson.Object}
	held, given := baseline.Index(), live.Index()
	for i, key := range live.Keys {
		n.Append(key, Overlay(live.Items[i], held(key)))
	}

	for i, key := range baseline.Keys {
		if given(key) == nil {
			n.Append(key, baseline.Items[i])
		}
	}
	return n
}
