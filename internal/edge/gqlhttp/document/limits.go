package document

import (
	"fmt"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/wire"
)

// Limits bound what one operation may ask for. What is over one of them is refused with
// DocumentLimitExceeded before anything runs. A number that is not positive stands for that of
// DefaultLimits.
type Limits struct {
	// Tokens is how many tokens a document may have, comments among them.
	Tokens int
	// Brackets is how deep the brackets ( [ { of a document may nest.
	Brackets int
	// Directives is how many directives a document may use.
	Directives int
	// Depth is how deep fields may nest, without those below __schema and __type.
	Depth int
	// Aliases is how many fields of a document may have an alias.
	Aliases int
	// Selections is how many fields and fragments the operations of a document may select together,
	// where a fragment counts with all it selects as often as it is spread.
	Selections int
	// Fragments is how many selections the fragments of a document may come to when each is counted with
	// all that it spreads. Those of clients stay far below the default.
	Fragments int
	// Merging is how many selections may be looked at to find out whether the fields of one name can be merged.
	// Documents that are meant stay near twice the number of their selections.
	Merging int
	// Introspection is how many values of the schema an operation may ask for, of which an object counts as two.
	// What tools ask for, everything once, is seven eighths of the default; under aliases, or through the types of
	// the fields of types, it multiplies.
	Introspection int
	// Repeats is how often literals of custom scalars may have one variable inside, because each time is as
	// much work as the variable itself.
	Repeats int
	// VariableDepth is how deep lists and input objects may nest in a variable. It is
	// not for the inside of custom scalars and of FreeInputs, whose decoders have limits of their own.
	VariableDepth int
	// FreeInputs are the names of input types that have a decoder of their own: a value of theirs is handed on as the
	// tree that was given, once it was checked, and VariableDepth is not for it. An input object inside them may
	// have the __typename of the type that it writes, "Item" for "ItemInput".
	FreeInputs []string
	// Cost is what an operation may cost. A field of a mutation's root costs 10, another that
	// has fields 1, one of Large 5, any other a tenth; arguments cost 6 for each KiB, and values of the schema
	// a hundredth. The items of a list count each. Package meter has what is counted while an operation runs.
	Cost int
	// Answer is how many bytes an answer may have.
	Answer int
	// Large are the names of scalars whose values may be as large as a body.
	Large []string
}

// DefaultLimits returns the limits if nothing else is said.
func DefaultLimits() Limits {
	return Limits{
		Tokens:        1000,
		Brackets:      64,
		Directives:    50,
		Depth:         12,
		Aliases:       30,
		Selections:    4000,
		Fragments:     4000,
		Merging:       10_000,
		Introspection: 50_000,
		Repeats:       4,
		VariableDepth: 32,
		Cost:          10_000,
		Answer:        16 << 20,
	}
}

// WithDefaults returns the limits with the default of each that is not positive.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	for value, standard := range map[*int]int{
		&l.Tokens: d.Tokens, &l.Brackets: d.Brackets, &l.Directives: d.Directives, &l.Depth: d.Depth, &l.Aliases: d.Aliases,
		&l.Selections: d.Selections, &l.Fragments: d.Fragments, &l.Merging: d.Merging, &l.Introspection: d.Introspection,
		&l.Repeats: d.Repeats, &l.VariableDepth: d.VariableDepth, &l.Cost: d.Cost, &l.Answer: d.Answer,
	} {
		if *value <= 0 {
			*value = standard
		}
	}
	return l
}

// limit is one of the Limits as refusals name it.
type limit struct {
	name string
	most int
	// what is counted, for "at most 12 …".
	what string
}

// exceeded returns the fault of a subject that is over the limit. Where counting ended early, found is 0.
func (l limit) exceeded(subject string, found int) *fault.Error {
	number := fmt.Sprintf("more than %d", l.most)
	if found > 0 {
		number = strconv.Itoa(found)
	}
	e := fault.New(fault.DocumentLimitExceeded, "%s is over the limit %q: at most %d %s, found %s.",
		subject, l.name, l.most, l.what, number)
	e.Metadata = map[string]any{"limit": l.name, "value": l.most}
	if found > 0 {
		e.Metadata["found"] = found
	}
	return e
}

// refuse returns the error of a document that is over the limit at a place.
func (l limit) refuse(found int, at *ast.Position) *gqlerror.Error {
	return wire.RequestError(l.exceeded("The document", found), nil, at)
}

// variableAt names a place in the variables.
func variableAt(path ast.Path) string { return fmt.Sprintf("Variable %q", "$"+path[1:].String()) }
