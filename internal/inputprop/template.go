package inputprop

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/strictjson"
)

// templateOpen begins a template: ${{ path }}.
const TemplateOpen = "${{"

// refRoot is the root of the paths into the instance chosen for a reference.
const RefRoot = "ref"

// piece is a part of a text with holes in it: text as it stands, or the name of what fills a hole.
type Piece struct{ Text, Name string }

var templatePath = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// templatePieces takes a text with templates apart. Of the error only the text is of use.
func ParseTemplate(text string) ([]Piece, error) {
	var pieces []Piece
	for {
		before, rest, found := strings.Cut(text, TemplateOpen)
		if before != "" {
			pieces = append(pieces, Piece{Text: before})
		}
		if !found {
			return pieces, nil
		}
		path, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, fmt.Errorf("must close every ${{ with }}, found %s", strictjson.ShowText(TemplateOpen+rest))
		}
		path = strings.TrimSpace(path)
		if !templatePath.MatchString(path) {
			return nil, fmt.Errorf("must have a path such as project.slug within ${{ }}, found %s", strictjson.ShowText(path))
		}
		pieces = append(pieces, Piece{Name: path})
		text = after
	}
}

// keyPlaceholder stands for the key of a map's entry.
const KeyPlaceholder = "key"

// titlePieces takes a title or a description with {id} placeholders apart; {{ is a brace. Of the error
// only the text is of use.
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

// holds says whether a string anywhere in the value has a part.
func ContainsText(n *strictjson.Node, part string) bool {
	return n.Kind == strictjson.String && strings.Contains(n.Text, part) ||
		slices.ContainsFunc(n.Items, func(item *strictjson.Node) bool { return ContainsText(item, part) })
}
