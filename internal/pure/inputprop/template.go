package inputprop

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/base/strictjson"
)

// TemplateOpen begins a template: ${{ path }}. A dollar sign before it makes it a text: $${{ stands for ${{.
const TemplateOpen = "${{"

// RefRoot is the root of the paths into the instance chosen for a reference. The path goes on with RefInput and the id
// of an input of what is live there, or with RefOutput and the name of an output.
const (
	RefRoot   = "ref"
	RefInput  = "input."
	RefOutput = "stack.output."
)

// Piece is a part of a text with holes in it: text as it stands, or the name of what fills a hole.
type Piece struct{ Text, Name string }

var templatePath = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// ParseTemplate returns the pieces of a text with templates. The text of the error is for messages.
func ParseTemplate(text string) ([]Piece, error) {
	var pieces []Piece
	for {
		before, rest, found := strings.Cut(text, TemplateOpen)
		literal, escaped := strings.CutSuffix(before, "$")
		if escaped && found {
			pieces = append(pieces, Piece{Text: literal + TemplateOpen})
			text = rest
			continue
		}

		if before != "" {
			pieces = append(pieces, Piece{Text: before})
		}
		if !found {
			return pieces, nil
		}

		path, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, fmt.Errorf("must close every ${{ with }}, or write $${{ for the text ${{, found %s",
				strictjson.ShowText(TemplateOpen+rest))
		}
		path = strings.TrimSpace(path)
		if !templatePath.MatchString(path) {
			return nil, fmt.Errorf("must have a path such as project.slug within ${{ }}, or $${{ for the text ${{, found %s",
				strictjson.ShowText(path))
		}

		pieces = append(pieces, Piece{Name: path})
		text = after
	}
}

// OutputsNamed returns the names of the outputs that the templates in a value read.
func OutputsNamed(n *strictjson.Node) (names []string) {
	if n.Kind == strictjson.String {
		pieces, err := ParseTemplate(n.Text)
		if err != nil {
			return nil
		}
		for _, p := range pieces {
			if name, ok := strings.CutPrefix(p.Name, RefRoot+"."+RefOutput); ok {
				names = append(names, name)
			}
		}
	}
	for _, item := range n.Items {
		names = append(names, OutputsNamed(item)...)
	}
	return names
}

// KeyPlaceholder stands for the key of a map's entry.
const KeyPlaceholder = "key"

// ParseTitle returns the pieces of a title or a description with {id} placeholders; {{ is a brace. The text of the
// error is for messages.
func ParseTitle(text string) ([]Piece, error) {
	var pieces []Piece
	for {
		before, rest, found := strings.Cut(text, "{")
		if before != "" {
			pieces = append(pieces, Piece{Text: before})
		}
		if !found {
			return pieces, nil
		}

		if after, literal := strings.CutPrefix(rest, "{"); literal {
			pieces = append(pieces, Piece{Text: "{"})
			text = after
			continue
		}

		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, fmt.Errorf("must close every { with }, or write {{ for a brace, found %s", strictjson.Quote("{"+rest))
		}
		if name == "" {
			return nil, errors.New("must name an input within { }, found {}")
		}

		pieces = append(pieces, Piece{Name: name})
		text = after
	}
}

// ContainsText reports whether a string anywhere in the value has a part.
func ContainsText(n *strictjson.Node, part string) bool {
	return n.Kind == strictjson.String && strings.Contains(n.Text, part) ||
		slices.ContainsFunc(n.Items, func(item *strictjson.Node) bool { return ContainsText(item, part) })
}
