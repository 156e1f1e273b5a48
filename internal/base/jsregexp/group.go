package jsregexp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// alternative is one of the parts of a group, or of the whole pattern, that | separates.
type alternative struct {
	outer        *alternative
	group, index int
}

// excludes reports whether no match can use both: they, or two alternatives around them, are different
// alternatives of one group.
func (a *alternative) excludes(other *alternative) bool {
	indices := make(map[int]int)
	for ; a != nil; a = a.outer {
		indices[a.group] = a.index
	}
	for ; other != nil; other = other.outer {
		if index, ok := indices[other.group]; ok && index != other.index {
			return true
		}
	}
	return false
}

// namedGroups returns, by name, the alternatives that have a group of the name, in a pattern that is otherwise
// valid.
func namedGroups(pattern string) map[string][]*alternative {
	named := make(map[string][]*alternative)
	current := &alternative{}
	groups := 0
	for t := range tokens(pattern) {
		if t.kind == groupOpening {
			named[groupName(t.text)] = append(named[groupName(t.text)], current)
		}
		switch {
		case t.kind == groupOpening || t.kind == modifier || t.text == "(":
			groups++
			current = &alternative{outer: current, group: groups}
		case t.text == "|":
			current = &alternative{outer: current.outer, group: current.group, index: current.index + 1}
		case t.text == ")" && current.outer != nil:
			current = current.outer
		}
	}
	return named
}

// checkNames returns a *SyntaxError for a pattern in which one match could use two groups of one name. The
// virtual machine accepts any two with a | between them, also if they are not alternatives of each other.
func checkNames(pattern string) error {
	if !hasNamedGroups(pattern) {
		return nil
	}
	for name, alternatives := range namedGroups(pattern) {
		for i, a := range alternatives {
			for _, earlier := range alternatives[:i] {
				if !a.excludes(earlier) {
					return &SyntaxError{Message: fmt.Sprintf("two groups with the name %s in one alternative", name)}
				}
			}
		}
	}
	return nil
}

var nameEscape = regexp.MustCompile(`\\u(?:\{[0-9A-Fa-f]+\}|[0-9A-Fa-f]{4})`)

// groupName returns the name in an opening such as (?<name>, with its escapes decoded.
func groupName(opening string) string {
	written := strings.TrimSuffix(strings.TrimPrefix(opening, "(?<"), ">")
	var units []uint16
	last := 0
	for _, at := range nameEscape.FindAllStringIndex(written, -1) {
		units = append(units, utf16.Encode([]rune(written[last:at[0]]))...)
		digits := strings.Trim(written[at[0]+len(`\u`):at[1]], "{}")
		if code, err := strconv.ParseUint(digits, 16, 16); err == nil {
			units = append(units, uint16(code))
		} else if code, err := strconv.ParseInt(digits, 16, 32); err == nil {
			units = utf16.AppendRune(units, rune(code))
		}
		last = at[1]
	}
	return string(utf16.Decode(append(units, utf16.Encode([]rune(written[last:]))...)))
}
