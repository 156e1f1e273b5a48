package inputprop

// bound holds a field to its value before: immutable ones to the value itself, others to no less.
// Where there was no value before, nothing binds.
func (j *judge) bound(f *form, fl *field, before *Node) {
	if !isValue(before) {
		return
	}
	p := fl.in.Property
	if isImmutable(p) && (fl.value == nil || !equal(fl.value, before)) {
		j.fail("immutable", "must stay as it was first deployed, %s, found %s", written(before), written(fl.value))
		return
	}
	if d, ok := p.(interface{ KeepsMinCurrent() bool }); !ok || !d.KeepsMinCurrent() || !isValue(fl.value) {
		return
	}
	if _, ok := p.(*NumberProperty); ok {
		j.noLess(fl.value, before)
		return
	}
	if a := j.allowed(f, p); a != nil {
		now, found := a.position(fl.value)
		current, stands := a.position(before)
		if found && stands && now < current {
			j.fail("min_current_value", "must not stand before the current %s among the values, found %s",
				written(before), written(fl.value))
		}
	}
}

func (j *judge) noLess(n, before *Node) {
	if n.Kind != Number || before.Kind != Number {
		return
	}
	now, err := parseInt32(n.Text)
	current, wrong := parseInt32(before.Text)
	if err == nil && wrong == nil && now < current {
		j.fail("min_current_value", "must not be less than the current %s, found %s", numberValue(current), numberValue(now))
	}
}
