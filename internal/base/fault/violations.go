package fault

import "fmt"

const (
	// MaxViolations is how many violations an error lists, and maxViolationText how many bytes of text they
	// have together. The last one then tells how many more there are.
	MaxViolations    = 100
	maxViolationText = 64 << 10
)

// Violations collects what is wrong with an input, as many as an error lists, and counts the rest: what is
// only counted costs no text. The zero value is ready to use.
type Violations struct {
	list  []Violation
	bytes int
	more  int
}

// Add adds a violation. Its message is formatted only where it is listed.
func (v *Violations) Add(pointer, rule, format string, args ...any) {
	if v.IsFull() {
		v.more++
		return
	}
	v.add(Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// AddBeside is Add for a message that goes on with another place, as pointer is one.
func (v *Violations) AddBeside(other, pointer, rule, format string, args ...any) {
	if v.IsFull() {
		v.more++
		return
	}
	v.add(Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(format, args...) + " " + other, Other: other})
}

// Append adds violations.
func (v *Violations) Append(list ...Violation) {
	for _, one := range list {
		switch {
		case one.More > 0:
			v.more += one.More
		case v.IsFull():
			v.more++
		default:
			v.add(one)
		}
	}
}

func (v *Violations) add(one Violation) {
	size := len(one.Pointer) + len(one.Rule) + len(one.Message)
	if v.bytes+size > maxViolationText {
		v.bytes = maxViolationText // nothing is listed behind it, so that the list has no holes
		v.more++
		return
	}
	v.bytes += size
	v.list = append(v.list, one)
}

// IsFull reports whether further violations are only counted.
func (v *Violations) IsFull() bool {
	return len(v.list) == MaxViolations || v.bytes >= maxViolationText
}

// Count returns how many violations there are, with those that are not listed.
func (v *Violations) Count() int { return len(v.list) + v.more }

// All returns the violations, nil if there are none. If there are more than are listed, the last one
// says so, at root.
func (v *Violations) All(root string) []Violation {
	if v.more == 0 {
		return v.list
	}
	return append(v.list[:len(v.list):len(v.list)], Violation{
		Pointer: root,
		Rule:    "more_violations",
		Message: fmt.Sprintf("has %d more violations than the %d listed", v.more, len(v.list)),
		More:    v.more,
	})
}
