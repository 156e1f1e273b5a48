package inputvalues

import (
	"context"
	"slices"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// hold finds out what a field is held to. A value before that the input's present type or a rule of it refuses binds
// nothing: nobody could enter it, and so nobody could deploy.
func (r *resolver) hold(l *level, fl *field) {
	if r.released || !fl.in.Traits.IsHeld() || !isValue(fl.before) {
		return
	}
	if fl.entered != nil && !r.defaulted && strictjson.Equal(fl.entered, fl.before) {
		return // it is what it was
	}
	switch v := r.judge(l, fl); {
	case v.refusal != "":
	case v.answered:
		fl.bound, fl.judged = v.value, true
	default:
		fl.bound = fl.before
	}
}

// verdict is what the inputs of now make of a value before.
type verdict struct {
	// value is the value with the defaults of now inside.
	value *strictjson.Node
	// refusal is the first rule that refuses it, "" if none does.
	refusal string
	// answered is set if nothing is wrong with it.
	answered bool
}

// judge judges the value that a field had before as if it were entered, beside the values that were there before: what
// is entered now in other inputs must not set it free.
func (r *resolver) judge(l *level, fl *field) verdict {
	was := &field{in: fl.in, visible: true, entered: fl.before, value: fl.before}
	defer func(outside bool) { r.unlooked = outside }(r.unlooked)

	r.unlooked = false
	violations := r.aside(func() {
		r.defaulted = false
		r.reference(was)
		r.collection(was)
		v := &validator{Collector: r.Collector, match: r.match, resolver: r}
		v.content(was, l.past())
	})

	if r.err == nil {
		r.err = r.match.err
	}

	v := verdict{value: was.value, answered: len(violations) == 0 && !r.unlooked}
	refuses := func(v fault.Violation) bool { return !IsUnanswered(v.Rule) && v.More == 0 }
	if i := slices.IndexFunc(violations, refuses); i >= 0 && !r.unlooked {
		v.refusal = violations[i].Rule
	}

	return v
}

// past returns the level with the values before.
func (l *level) past() *level {
	if l.earlier == nil {
		l.earlier = &level{inputs: l.inputs, fields: make([]field, len(l.fields))}
		for i, in := range l.inputs.Inputs {
			l.earlier.fields[i] = field{in: in, value: l.fields[i].before}
		}
	}
	return l.earlier
}

// aside calls f, and returns the violations that it finds. Neither they nor the values that it makes count.
func (r *resolver) aside(f func()) []fault.Violation {
	outside, size, defaulted := r.Collector, r.size, r.defaulted
	r.Collector = strictjson.NewCollector("")
	r.Path = slices.Clone(outside.Path)
	if chosen := r.chosen; chosen != nil {
		defer func(notLive bool, read []Read) {
			chosen.notLive, chosen.read = notLive, read
		}(chosen.notLive, slices.Clip(chosen.read))
	}
	defer func() { r.Collector, r.size, r.defaulted = outside, size, defaulted }()
	f()
	return r.Violations()
}

// IsUnanswered reports whether a violation of the rule is none of a value: nobody has found out what is wrong with it.
func IsUnanswered(rule string) bool {
	switch rule {
	case "pattern_too_slow", "pattern_limit", "pattern_syntax", "max_tests", "max_fetches", "max_size":
		return true
	default:
		return false
	}
}

// Unbound is an input whose remembered value binds nothing, because a rule refuses it.
type Unbound struct {
	Input inputprop.Property
	Rule  string
}

// Unbound calls f with each input, at any depth, of which something is remembered that binds nothing. It passes the
// index of what is remembered, which is what Baseline returned, of as many instances. The error is of the patterns or
// of the context.
func (e *Engine) Unbound(
	ctx context.Context, list []inputprop.Property, remembered []*strictjson.Node, env Env, f func(int, Unbound),
) error {
	level := inputprop.NewLevel(list)
	for i, n := range remembered {
		r := e.resolver(ctx, &env, "")
		r.unbound(level, n, func(u Unbound) { f(i, u) })
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

func (r *resolver) unbound(p *inputprop.Level, remembered *strictjson.Node, f func(Unbound)) {
	l := &level{inputs: p, fields: make([]field, len(p.Inputs))}
	for i, in := range p.Inputs {
		l.fields[i].in, l.fields[i].before = in, memberOf(remembered, in.ID)
	}
	for i, in := range p.Inputs {
		fl := &l.fields[i]
		switch {
		case r.err != nil || !isValue(fl.before):
		case in.Traits.IsHeld():
			if rule := r.judge(l, fl).refusal; rule != "" {
				f(Unbound{in.Property, rule})
			}
		case in.Nested.IsCollection() && fl.before.Kind == in.Nested.Collection:
			for _, item := range fl.before.Items {
				r.unbound(in.Items(), item, f)
			}
		}
	}
}
