package jsregexp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// alternative is one of the texts between the bars of a group, or of the pattern itself.
type alternative struct {
	outer        *alternative
	group, index int
}

// excludes says whether no match goes through both: somewhere they are two alternatives of one group.
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

// namedGroups are the places of the groups of each name, in a pattern that is otherwise valid.
func namedGroups(pattern string) map[string][]*alternative {
	named := make(map[string][]*alternative)
	here := &alternative{}
	groups := 0
	for p := range pieces(pattern) {
		if p.kind == name {
			named[groupName(p.text)] = append(named[groupName(p.text)], here)
		}
		switch {
		case p.kind == name || p.kind == modifier || p.text == "(":
			groups++
			here = &alternative{outer: here, group: groups}
		case p.text == "|":
			here = &alternative{outer: here.outer, group: here.group, index: here.index + 1}
		case p.text == ")" && here.outer != nil:
			here = here.outer
		}
	}
	return named
}

// checkNames refuses two groups of one name that one match could go through. The machine only looks
// whether there is a bar between them.
func checkNames(pattern string) error {
	if !hasNames(pattern) {
		return nil
	}
	for name, places := range namedGroups(pattern) {
		for i, place := range places {
			for _, earlier := range places[:i] {
				if !place.excludes(earlier) {
					return &SyntaxError{Message: fmt.Sprintf("two groups with the name %s in one alternative", name)}
				}
			}
		}
	}
	return nil
}

var nameEscape = regexp.MustCompile(`\\u(?:\{[0-9A-Fa-f]+\}|[0-9A-Fa-f]{4})`)

// groupName is the name in an opening such as (?<name>, without escapes.
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
