package inputprop

import (
	"context"

	"slipway/internal/fault"
)

// Patterns run JavaScript regular expressions. Their errors are *jsregexp.SyntaxError for what a browser
// would refuse, jsregexp.ErrTooManyGroups, jsregexp.ErrTooSlow, and others for what has nothing to do with the pattern.
type Patterns interface {
	// Compile says whether there is such a pattern.
	Compile(ctx context.Context, pattern string) error
	// Test says whether the pattern is found in the text.
	Test(ctx context.Context, pattern, text string) (bool, error)
	// Warnings are reasons why the pattern may not work in every browser.
	Warnings(ctx context.Context, pattern string) ([]string, error)
}

// Engine judges inputs and values. It is safe for concurrent use.
type Engine struct{ patterns Patterns }

// NewEngine makes an engine. Without patterns it takes every pattern and every text.
func NewEngine(patterns Patterns) *Engine { return &Engine{patterns} }

// Warning is what is allowed in an input, but may not be what was meant.
type Warning struct {
	// Pointer is the place as a JSON Pointer.
	Pointer string
	// Rule is the stable name of the warning.
	Rule string
	// Message reads on after the pointer.
	Message string
}

// Check gives every violation of the rules that take several members of a property, a pattern or a
// template, and warnings. The property stands alone: it has no siblings to be shown by. Pointers start
// with at; the error is of the patterns or of the context.
func (e *Engine) Check(ctx context.Context, p Property, at string) ([]fault.Violation, []Warning, error) {
	c := e.checker(ctx, at)
	c.alone(p)
	return c.result()
}

// CheckList is Check for the inputs of a module: the properties of one level, which may be shown by one
// another.
func (e *Engine) CheckList(ctx context.Context, list []Property, at string) ([]fault.Violation, []Warning, error) {
	c := e.checker(ctx, at)
	c.level(list)
	return c.result()
}

// CheckVersion is CheckList for inputs whose values are released: a default that a release would refuse is refused.
func (e *Engine) CheckVersion(ctx context.Context, list []Property, at string) ([]fault.Violation, []Warning, error) {
	c := e.checker(ctx, at)
	c.released = true
	c.level(list)
	return c.result()
}
