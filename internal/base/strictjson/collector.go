package strictjson

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"slipway/internal/base/fault"
	"slipway/internal/base/secret"
)

// Collector collects what is wrong with a value and the values in it. Whoever walks through them keeps Path at the
// value at hand, to which every violation belongs. Values that are secrets by their place are not repeated.
type Collector struct {
	// Path leads to the value at hand.
	Path Path
	root string
	// names are those that the value at hand has besides the ones on its path.
	names []string
	found fault.Violations
}

// NewCollector returns a collector whose pointers start with root.
func NewCollector(root string) *Collector { return &Collector{root: root} }

// Fail adds a violation of the value at hand. Arguments that are of the type Shown are hidden if the value is a
// secret.
func (c *Collector) Fail(rule, format string, args ...any) { c.FailBelow("", rule, format, args...) }

// FailBelow adds a violation of what a pointer leads to from the value at hand.
func (c *Collector) FailBelow(pointer, rule, format string, args ...any) {
	c.found.Add(c.place(pointer, args), rule, format, args...)
}

// FailBeside adds a violation of the value at hand whose message goes on with another place, by the pointer that
// Pointer returned there.
func (c *Collector) FailBeside(other, rule, format string, args ...any) {
	c.found.AddBeside(other, c.place("", args), rule, format, args...)
}

// place returns where a violation is, and hides what its message must not repeat; "" if it is only counted.
func (c *Collector) place(below string, args []any) string {
	if c.found.IsFull() {
		return ""
	}
	c.conceal(args)
	return c.Pointer() + below
}

// FailMember adds a violation of a member of the value at hand.
func (c *Collector) FailMember(key, rule, format string, args ...any) {
	c.Path.PushKey(key)
	c.Fail(rule, format, args...)
	c.Path.Pop()
}

// Pointer returns the JSON Pointer of the value at hand.
func (c *Collector) Pointer() string { return c.Path.Pointer(c.root) }

// Count returns how many violations there are.
func (c *Collector) Count() int { return c.found.Count() }

// IsFull reports whether further violations are only counted, so that no text need be made for them.
func (c *Collector) IsFull() bool { return c.found.IsFull() }

// Violations returns all that was found, nil when there is none.
func (c *Collector) Violations() []fault.Violation { return c.found.All(c.root) }

// Save returns what has been found so far, for Restore.
func (c *Collector) Save() fault.Violations { return c.found }

// Restore forgets what was found since Save returned found.
func (c *Collector) Restore(found fault.Violations) { c.found = found }

// PushNames adds names that the value at hand has besides those on its path, until PopNames takes as many away.
func (c *Collector) PushNames(names ...string) { c.names = append(c.names, names...) }

// PopNames takes the names away that PushNames added last.
func (c *Collector) PopNames(names ...string) { c.names = c.names[:len(c.names)-len(names)] }

// IsSecret reports whether the value at hand is a secret by its names.
func (c *Collector) IsSecret() bool {
	last := ""
	for i, e := range c.Path {
		if e.index >= 0 {
			continue
		}
		if last = e.key; i == 0 && secret.IsName(last) || secret.IsGroup(last) {
			return true
		}
	}
	return secret.IsName(last) || slices.ContainsFunc(c.names, secret.IsName)
}

// conceal takes the values out of the arguments of a message if the value at hand is a secret.
func (c *Collector) conceal(args []any) {
	for i, arg := range args {
		if _, ok := arg.(Shown); !ok {
			continue
		}
		if !c.IsSecret() {
			return
		}
		args[i] = concealed
	}
}

// Hint returns a phrase for the end of a message that suggests the name which was probably meant, "" when none is near
// or violations are only counted.
func (c *Collector) Hint(found string, names []string) string {
	if c.found.IsFull() {
		return ""
	}
	return Hint(found, names)
}

// Hint is Collector.Hint for those who have no collector.
func Hint(found string, names []string) string {
	if len(found) > shownRunes {
		return ""
	}
	best, distance := "", 3
	for _, name := range names {
		if d := levenshtein.ComputeDistance(folded(found), folded(name)); d < distance && d < len(name)-1 {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return `, did you mean "` + best + `"`
}

// folded lets camelCase, kebab-case and snake_case meet.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}
