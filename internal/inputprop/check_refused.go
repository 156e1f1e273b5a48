package inputprop

import (
	"context"

	"slipway/internal/fault"
	"slipway/internal/strictjson"
)

// DropRefused takes the defaults out of stored inputs that would be refused if they were saved now, so that they
// count as absent, and warns of each; pointers start with at. The error is of the patterns or of the context.
func (e *Engine) DropRefused(ctx context.Context, list []Property, at string) ([]Warning, error) {
	var warnings []Warning
	match := e.matcher(ctx)
	Walk(list, at, func(p Property, pointer string) {
		refusal, refused := match.refusal(ctx, p, pointer)
		if !refused || match.err != nil {
			return
		}
		p.DropDefault()
		warnings = append(warnings, Warning{refusal.Pointer, "default_refused", "counts as absent, for it " + refusal.Message})
	})
	return warnings, match.err
}

// refusal returns the first thing that is wrong with a default. That a pattern gives no answer is no fault of it.
func (m *Matcher) refusal(ctx context.Context, p Property, pointer string) (fault.Violation, bool) {
	c := &checker{Collector: strictjson.NewCollector(pointer), ctx: ctx, match: m, mapped: true, released: true}
	c.PushNames(p.Head().ID)
	c.checkDefault(p)
	for _, v := range c.Violations() {
		switch v.Rule {
		case "pattern_too_slow", "pattern_limit", "pattern_syntax", "max_tests", "template_ref":
		default:
			return v, true
		}
	}
	return fault.Violation{}, false
}
