package document

import (
	"regexp"

	"slipway/internal/base/strictjson"
)

var (
	// jsonNumber is JSON's grammar of numbers.
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	// otherNumber is what YAML 1.1, YAML 1.2 or one of their readers takes for a number besides, those of base 60
	// included.
	otherNumber = regexp.MustCompile(`^[-+]?(0[bB][01_]+|0[oO][0-7_]+|0[xX][0-9a-fA-F_]+|` +
		`[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|` +
		`([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?|\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// plain returns the value of a plain scalar, or what is wrong with it.
func plain(text string) (n *strictjson.Node, flaw string) {
	switch text {
	case "", "~", "null":
		return &strictjson.Node{}, ""
	case "true", "false":
		return &strictjson.Node{Kind: strictjson.Bool, Bool: text == "true"}, ""
	case "True", "TRUE", "False", "FALSE", "Null", "NULL":
		return nil, "must be written in small letters, or in quotes if it is a text, found " + text
	}
	if jsonNumber.MatchString(text) {
		return &strictjson.Node{Kind: strictjson.Number, Text: text}, ""
	}
	if otherNumber.MatchString(text) {
		return nil, "is a number to some readers and a text to others; write it as JSON does, or quote it, found " +
			strictjson.Short(text)
	}
	return textNode(text), ""
}

func textNode(text string) *strictjson.Node {
	return &strictjson.Node{Kind: strictjson.String, Text: text}
}
