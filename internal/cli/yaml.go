package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/strictjson"
)

// appendYAML appends a value as YAML in lines that begin with indent, the first of which has begun. It is written here
// because the digits of numbers and the order of members are to stay, and any text, also that of a key, is to read as the
// same text in every version of YAML and to do nothing to a terminal.
func appendYAML(b []byte, n *strictjson.Node, indent string) []byte {
	switch {
	case n.Kind == strictjson.Object && len(n.Keys) > 0:
		for i, key := range n.Keys {
			if i > 0 {
				b = append(b, indent...)
			}
			b = append(append(b, yamlText(key)...), ':')
			b = appendYAMLMember(b, n.Items[i], indent)
		}
		return b
	case n.Kind == strictjson.Array && len(n.Items) > 0:
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, indent...)
			}
			b = appendYAML(append(b, "- "...), item, indent+"  ")
		}
		return b
	case n.Kind == strictjson.String:
		b = append(b, yamlText(n.Text)...)
	default:
		b = n.AppendJSON(b)
	}
	return append(b, '\n')
}

// appendYAMLMember appends the value of a member behind its colon. The items of an array stand below its key.
func appendYAMLMember(b []byte, n *strictjson.Node, indent string) []byte {
	if len(n.Items) == 0 {
		return appendYAML(append(b, ' '), n, indent)
	}
	if n.Kind == strictjson.Object {
		indent += "  "
	}
	return appendYAML(append(append(b, '\n'), indent...), n, indent)
}

var (
	// plainText are words, names, addresses and plain sentences, which need no quotes.
	plainText = regexp.MustCompile(`^[\p{L}_/](?:[\p{L}\p{N}_/.@+,;()=: -]*[\p{L}\p{N}_/.)])?$`)
	// otherwise are the words that are no texts, in one version of YAML or another.
	otherwise = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
)

// yamlText returns a text in YAML, in the quotes of JSON unless it is plain. YAML has no surrogates.
func yamlText(text string) string {
	if plainText.MatchString(text) && !strings.Contains(text, ": ") && !slices.Contains(otherwise, strings.ToLower(text)) {
		return text
	}
	quoted := strictjson.Node{Kind: strictjson.String, Text: text}
	return escape(string(quoted.JSON()), func(r rune) string { return fmt.Sprintf(`\U%08x`, r) })
}
