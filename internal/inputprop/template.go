package inputprop

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/strictjson"
)

// templateOpen begins a template: ${{ path }}.
const TemplateOpen = "${{"

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

// scopes are the roots of the paths that are known when a deployment is created, with their members.
var scopes = map[string][]string{
	"organization": {"id", "name", "slug"},
	"project":      {"id", "name", "slug"},
	"environment":  {"id", "name", "slug"},
	"module":       {"id", "name", "type", "version"},
}

var scopeNames = []string{"organization", "project", "environment", "module"}

// refRoot is the root of the paths into the instance chosen for a reference.
const RefRoot = "ref"

// pathFlaw judges the path of a template; mapped says that it stands within mapped_inputs. It gives the
// rule that is broken, "" when none is.
func pathFlaw(path string, mapped bool) (rule, message string) {
	root, rest, _ := strings.Cut(path, ".")
	if root == RefRoot {
		return refFlaw(path, mapped)
	}
	members, ok := scopes[root]
	if !ok {
		names := scopeNames
		if mapped {
			names = append(slices.Clone(names), RefRoot)
		}
		return "template_root", fmt.Sprintf("must start a template's path with one of %s, found %s%s",
			strings.Join(names, ", "), strictjson.Quote(path), strictjson.Hint(root, names))
	}
	if !slices.Contains(members, rest) {
		return "template_path", fmt.Sprintf("must name one of %s of %s, found %s%s",
			strings.Join(members, ", "), root, strictjson.Quote(path), strictjson.Hint(rest, members))
	}
	return "", ""
}

func refFlaw(path string, mapped bool) (rule, message string) {
	if !mapped {
		return "template_ref", fmt.Sprintf("must not refer to a chosen instance outside of mapped_inputs, found %s", strictjson.Quote(path))
	}
	input, isInput := strings.CutPrefix(path, "ref.input.")
	output, isOutput := strings.CutPrefix(path, "ref.stack.output.")
	if !isInput && !isOutput || isInput && strings.Contains(input, ".") || isOutput && strings.Contains(output, ".") {
		return "template_path", fmt.Sprintf("must be ref.input.<name> or ref.stack.output.<name>, found %s", strictjson.Quote(path))
	}
	return "", ""
}

// holds says whether a string anywhere in the value has a part.
func ContainsText(n *strictjson.Node, part string) bool {
	return n.Kind == strictjson.String && strings.Contains(n.Text, part) ||
		slices.ContainsFunc(n.Items, func(item *strictjson.Node) bool { return ContainsText(item, part) })
}
