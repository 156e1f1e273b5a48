package inputprop

import (
	"fmt"
	"strconv"
	"strings"
)

// rules are what the tag `ip` of a struct field asks of its value, a list of
//
//	required       the member must be there
//	nullable       null is allowed, and the same as absent
//	nonempty       a string of at least 1 character, a list of at least 1 item
//	max=N          at most N characters or items; in free-form JSON, N characters in any string
//	enum=a|b       one of these strings
//	format=NAME    a string of a form that formats lists
//	shape=object   free-form JSON that is an object (or array)
//	options=NAME   the options of Values: string, number or compound
//	first          a Default that may be the instruction to take the first of the values
//	each.RULE      the rule for every item of a list, or value of a map
type rules struct {
	required, nullable, nonempty, first bool

	max     int
	enum    []string
	format  string
	shape   Kind
	options string
	each    *rules
	// also is what else than the value's type is allowed, for messages.
	also string
}

func parseRules(tag string) *rules {
	r := &rules{}
	for part := range strings.SplitSeq(tag, ",") {
		if part == "" {
			continue
		}
		target := r
		if each, ok := strings.CutPrefix(part, "each."); ok {
			if r.each == nil {
				r.each = &rules{}
			}
			target, part = r.each, each
		}
		target.set(part)
	}
	return r
}

// set panics on a rule that does not exist: a tag is code.
func (r *rules) set(rule string) {
	name, arg, _ := strings.Cut(rule, "=")
	switch name {
	case "required":
		r.required = true
	case "nullable":
		r.nullable = true
	case "nonempty":
		r.nonempty = true
	case "first":
		r.first = true
		r.also = " or " + strconv.Quote(First)
	case "max":
		limit, err := strconv.Atoi(arg)
		if err != nil {
			panic(fmt.Sprintf("inputprop: max is no number in the rule %q", rule))
		}
		r.max = limit
	case "enum":
		r.enum = strings.Split(arg, "|")
	case "format":
		r.format = arg
	case "shape":
		r.shape = map[string]Kind{"object": Object, "array": Array}[arg]
	case "options":
		r.options = arg
	default:
		panic(fmt.Sprintf("inputprop: no rule %q", rule))
	}
}

// items are the rules for what is inside a list or a map.
func (r *rules) items() *rules {
	if r.each == nil {
		return &rules{}
	}
	return r.each
}
