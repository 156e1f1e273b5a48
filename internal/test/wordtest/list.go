package wordtest

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Sentence is a sentence of a source, such as a document or the help of a command.
type Sentence struct{ Source, Text string }

// Allowed is a sentence that may have the patterns with these numbers, and why.
type Allowed struct {
	Sentence
	Numbers []int
	Reason  string
}

// List has the allowed sentences, and how often each pattern is in the comments.
type List struct {
	Head      string // the comment at its beginning
	Comments  map[int]int
	Sentences map[Sentence]Allowed
}

// AsYet is the reason of a sentence that nobody has written plainly so far.
const AsYet = "as yet"

const commentsOfGo = "comments of Go"

var (
	section = regexp.MustCompile(`^\[(.+?)\](?: (.+))?$`)
	entry   = regexp.MustCompile(`^([\d ]+)\| (.+)$`)
)

// ReadList reads a list. A line "[source] reason" begins its sentences, each of which has its numbers before it.
func ReadList(text string) (List, error) {
	list := List{Comments: map[int]int{}, Sentences: map[Sentence]Allowed{}}
	var source, reason string
	for lines, n := bufio.NewScanner(strings.NewReader(text)), 1; lines.Scan(); n++ {
		line := lines.Text()
		begins, is := section.FindStringSubmatch(line), entry.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "#"):
			list.Head += line + "\n"
		case begins != nil:
			source, reason = begins[1], begins[2]
		case is != nil && source == commentsOfGo:
			pattern, _ := strconv.Atoi(strings.TrimSpace(is[1]))
			count, err := strconv.Atoi(is[2])
			if err != nil {
				return List{}, fmt.Errorf("line %d: %w", n, err)
			}
			list.Comments[pattern] = count
		case is != nil && reason != "":
			s := Sentence{source, is[2]}
			list.Sentences[s] = Allowed{s, numbers(is[1]), reason}
		case line != "":
			return List{}, fmt.Errorf("line %d: expected [source] reason, or numbers | sentence, found %q", n, line)
		}
	}
	return list, nil
}

func numbers(text string) (all []int) {
	for field := range strings.FieldsSeq(text) {
		n, _ := strconv.Atoi(field) // the expression has digits alone
		all = append(all, n)
	}
	return all
}

// String returns the list as ReadList reads it, in the order of its sources.
func (l List) String() string {
	var b strings.Builder
	b.WriteString(l.Head)
	fmt.Fprintf(&b, "\n[%s]\n", commentsOfGo)
	for _, pattern := range slices.Sorted(maps.Keys(l.Comments)) {
		fmt.Fprintf(&b, "%d | %d\n", pattern, l.Comments[pattern])
	}
	last := Allowed{}
	for _, a := range slices.SortedFunc(maps.Values(l.Sentences), compare) {
		if a.Source != last.Source || a.Reason != last.Reason {
			fmt.Fprintf(&b, "\n[%s] %s\n", a.Source, a.Reason)
		}
		fmt.Fprintf(&b, "%s\n", a)
		last = a
	}
	return b.String()
}

func compare(a, b Allowed) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Text, b.Text))
}

// String returns the line of the sentence in a list.
func (a Allowed) String() string {
	return fmt.Sprintf("%s | %s", strings.Trim(fmt.Sprint(a.Numbers), "[]"), a.Text)
}
