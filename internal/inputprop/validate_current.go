package inputprop

import (
	"strconv"

	"slipway/internal/strictjson"
)

// bound holds a field to its value before: immutable ones to the value itself, others to no less.
// Where there was no value before, nothing binds.
func (v *validator) checkLocked(f *level, fl *field, before *strictjson.Node) {
	if !isValue(before) {
		return
	}
	traits := fl.in.Traits
	if traits.Immutable && (fl.value == nil || !strictjson.Equal(fl.value, before)) {
		v.Fail("immutable", "must stay as it was first deployed, %s, found %s", strictjson.ShowJSON(before), strictjson.ShowJSON(fl.value))
		return
	}
	if !traits.MinCurrent || !isValue(fl.value) {
		return
	}
	if traits.Numeric {
		v.noLess(fl.value, before)
		return
	}
	if a := v.allowed(f, fl.in.Property); a != nil {
		now, found := a.position(fl.value)
		current, stands := a.position(before)
		if found && stands && now < current {
			v.Fail("min_current_value", "must not stand before the current %s among the values, found %s",
				strictjson.ShowJSON(before), strictjson.ShowJSON(fl.value))
		}
	}
}

func (v *validator) noLess(n, before *strictjson.Node) {
	if n.Kind != strictjson.Number || before.Kind != strictjson.Number {
		return
	}
	now, err := strictjson.ParseInt32(n.Text)
	current, wrong := strictjson.ParseInt32(before.Text)
	if err == nil && wrong == nil && now < current {
		v.Fail("min_current_value", "must not be less than the current %s, found %s", strictjson.ShowNumber(strconv.Itoa(int(current))), strictjson.ShowNumber(strconv.Itoa(int(now))))
	}
}
