package inputprop

import (
	"reflect"

	"slipway/internal/base/strictjson"
)

// means reports whether two columns have properties of one meaning: if one says nothing, the other may say what
// goes without saying.
func (c Column) means(other Column) bool {
	a, errA := c.property()
	b, errB := other.property()
	if errA != nil || errB != nil || a == nil || b == nil {
		return false
	}
	spellOut(a)
	spellOut(b)
	return NewColumn(a).Equal(NewColumn(b))
}

// spellOut has a property, and those within it, say what goes without saying: that a flag is not set, what joins
// the parts of a key, and that an option is a value.
func spellOut(p Property) {
	WalkOne(p, "", func(p Property, _ string) {
		unsetFlags(reflect.ValueOf(p).Elem())
		if static, ok := p.ValueSource().(*StaticValues); ok {
			for i := range static.Options {
				static.Options[i].Bare = false
			}
		}
		if key := p.Nested().Key; key != nil {
			separator := key.SeparatorOrDefault()
			key.Separator = &separator
		}
	})
}

// unsetFlags sets the flags of a variant that are absent to false, which is the default of every one.
func unsetFlags(variant reflect.Value) {
	for _, m := range strictjson.Members(variant.Type()) {
		if flag := variant.FieldByIndex(m.Path); flag.Type() == reflect.TypeFor[*bool]() && flag.IsNil() {
			flag.Set(reflect.ValueOf(new(bool)))
		}
	}
}
