package gqlhttp

import (
	"fmt"
	"math"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/fault"
	"slipway/internal/meter"
)

// refuse is the refusal of an operation that costs more than it may. It names the field that most of the
// cost is below.
func (c cost) refuse(op *ast.OperationDefinition, total float64, most int) *fault.Error {
	found := meter.Round(total)
	if found == math.MaxInt32 {
		found = 0 // there is more than is told
	}
	e := limit{"cost", most, "(--max-cost)"}.exceeded("The operation", found)
	d := dearest{cost: c, times: 1}
	d.find(op.SelectionSet, parent{mutates: op.Operation == ast.Mutation})
	if d.field != nil && !introspects(d.field) {
		path := strings.Join(d.path, ".")
		e.Message += fmt.Sprintf(" Most of it is %s, which counts %s.", path, d.counts)
		e.Metadata["path"] = path
	}
	e.Message += " Ask for smaller pages with first or last, or for less in one operation."
	return e
}

// dearest looks for the field that most of an operation's cost is below.
type dearest struct {
	cost
	// times is how often the selections at hand are counted.
	times float64

	path   []string
	field  *ast.Field
	total  float64
	counts string
}

// find goes down to the dearest field for as long as more than half of the cost is below it.
func (d *dearest) find(set ast.SelectionSet, below parent) {
	f := d.among(set, below)
	if f == nil {
		return
	}
	total := d.times * d.cost.field(f, below)
	if d.field != nil && total < d.total/2 {
		return
	}
	times, each := d.cost.times(f, below), d.each(f, f.SelectionSet, "")
	d.path, d.field, d.total = append(d.path, f.Alias), f, total
	switch kib := d.bytes(f.Arguments) >> 10; {
	case kib > 0 && float64(costOfInputs*kib) > times*each:
		d.counts = fmt.Sprintf("%d for each of %d KiB of arguments", costOfInputs, kib)
	case f.Definition.Type.Elem != nil:
		d.counts = fmt.Sprintf("%d items, each %d", meter.Round(times), meter.Round(each))
	case d.times > 1:
		d.counts = fmt.Sprintf("%d times, each %d", meter.Round(d.times), meter.Round(total/d.times))
	default:
		d.counts = "what is below it"
	}
	d.times *= times
	d.find(f.SelectionSet, parent{page: d.page(f)})
}

// among returns the dearest of the fields that are selected, those of fragments among them.
func (d *dearest) among(set ast.SelectionSet, below parent) (most *ast.Field) {
	consider := func(f *ast.Field) {
		if f != nil && (most == nil || d.cost.field(f, below) > d.cost.field(most, below)) {
			most = f
		}
	}
	for _, selection := range set {
		if d.skips(selection) {
			continue
		}
		switch node := selection.(type) {
		case *ast.Field:
			consider(node)
		case *ast.InlineFragment:
			consider(d.among(node.SelectionSet, below))
		case *ast.FragmentSpread:
			consider(d.among(node.Definition.SelectionSet, below))
		}
	}
	return most
}
