package inputprop

import (
	"slipway/internal/meter"
	"slipway/internal/strictjson"
)

// isOpen reports whether a template among the pieces names something of a place that is not known here.
func (r *resolver) isUnknown(pieces []Piece) bool {
	for _, p := range pieces {
		if text, ok := r.env.text(p.Name); ok && text == "" {
			return true
		}
	}
	return false
}

// leaveOpen keeps a text with its templates as it is, and remembers that it is none that somebody entered.
func (r *resolver) leaveUnresolved(n *strictjson.Node) *strictjson.Node {
	open := *n
	if r.unresolvedTexts == nil {
		r.unresolvedTexts = map[*strictjson.Node]bool{}
	}
	r.unresolvedTexts[&open] = true
	return &open
}

// isUnresolved reports whether anything in a value was left with its templates.
func (r *resolver) isUnresolved(n *strictjson.Node) bool {
	if r == nil || len(r.unresolvedTexts) == 0 || n == nil {
		return false
	}
	if r.unresolvedTexts[n] {
		return true
	}
	for _, item := range n.Items {
		if r.isUnresolved(item) {
			return true
		}
	}
	return false
}

// unresolved adds the pointers of the texts in a value that were left with their templates; at leads to it.
func (r *resolver) unresolved(list *[]string, at *strictjson.Path, n *strictjson.Node) {
	if len(r.unresolvedTexts) == 0 || n == nil || r.err != nil {
		return
	}
	if r.unresolvedTexts[n] {
		pointer := at.Pointer("")
		r.err = meter.Answer(r.ctx, meter.Made, len(pointer))
		*list = append(*list, pointer)
	}
	for i, item := range n.Items {
		at.Push(n, i)
		r.unresolved(list, at, item)
		at.Pop()
	}
}
