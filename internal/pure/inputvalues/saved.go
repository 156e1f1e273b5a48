package inputvalues

import (
	"context"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// SavedValidator validates values that are saved with an input, its default and its options, by the same rules as
// those that are entered. Templates are left to be validated once they are filled in, and nothing is missing yet.
type SavedValidator struct {
	ctx context.Context
	v   validator
}

// NewSavedValidator returns a validator that adds its violations to those of a collector, at the collector's path.
// The values are those of releases where released is set, in which numbers must be exact.
func NewSavedValidator(ctx context.Context, c *strictjson.Collector, match *Matcher, released bool) *SavedValidator {
	return &SavedValidator{ctx, validator{Collector: c, match: match, saving: true, released: released}}
}

// Default validates the default of a property.
func (s *SavedValidator) Default(p inputprop.Property, value *strictjson.Node) {
	r := &resolver{Collector: strictjson.NewCollector(""), ctx: s.ctx, env: &Env{}, saving: true}
	fl := &field{in: inputprop.NewLevelInput(p), visible: true, entered: value, value: value}
	r.collection(fl)
	s.v.value(fl, nil)
	s.v.entries(fl)
}

// Line validates a text of one line that may be empty, as an option of a string.
func (s *SavedValidator) Line(text string, patterns []inputprop.ValidationPattern) {
	s.v.line(text, patterns)
}

// ItemText validates a text as an item of a list, which is matched though it is empty.
func (s *SavedValidator) ItemText(text string, patterns []inputprop.ValidationPattern) {
	s.v.itemText(text, patterns)
}

// Number validates a number by the bounds of its input.
func (s *SavedValidator) Number(p *inputprop.NumberProperty, n int32) { s.v.within(p, n) }
