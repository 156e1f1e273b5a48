package document

import (
	"regexp"
	"strings"

	"slipway/internal/strictjson"
)

// Write returns a value as YAML that Read reads as the same value: collections in block style, texts without quotes where
// nobody takes them for something else. Lines behind the first are indented by indent, and the last is ended.
//
// A scalar or an empty collection is to be put behind "key: " or "- "; of other values the first line is indented,
// too, and is put on a line of its own.
func Write(n *strictjson.Node, indent string) string {
	var b strings.Builder
	write(&b, n, indent)
	return b.String()
}

// IsBlock reports whether Write returns lines that stand on their own, and not behind a key.
func IsBlock(n *strictjson.Node) bool { return len(n.Items) > 0 }

func write(b *strings.Builder, n *strictjson.Node, indent string) {
	if !IsBlock(n) {
		writeScalar(b, n, indent)
		return
	}
	for i, item := range n.Items {
		b.WriteString(indent)
		if n.Kind == strictjson.Object {
			b.WriteString(WriteText(n.Keys[i]) + ":")
		} else {
			b.WriteString("-")
		}
		switch inner := indent + "  "; {
		case !IsBlock(item):
			b.WriteString(" ")
			writeScalar(b, item, inner)
		case n.Kind == strictjson.Array: // the first line stands behind the dash
			b.WriteString(" " + strings.TrimPrefix(Write(item, inner), inner))
		default:
			b.WriteString("\n")
			write(b, item, inner)
		}
	}
}

// lines are texts of several lines that a literal block has as they are.
var lines = regexp.MustCompile(`^[^\x00-\x20\x7F-\x{9F}\x{FEFF}\x{FFFE}\x{FFFF}][^\x00-\x09\x0B-\x1F\x7F-\x{9F}\x{FEFF}\x{FFFE}\x{FFFF}]*$`)

func writeScalar(b *strings.Builder, n *strictjson.Node, indent string) {
	inner, ended := strings.CutSuffix(n.Text, "\n")
	isBlock := n.Kind == strictjson.String && indent != "" && strings.Contains(n.Text, "\n") && lines.MatchString(inner) && !strings.HasSuffix(inner, "\n")
	if !isBlock {
		if n.Kind == strictjson.String {
			b.WriteString(WriteText(n.Text) + "\n")
		} else {
			b.WriteString(string(n.JSON()) + "\n")
		}
		return
	}
	if ended {
		b.WriteString("|\n")
	} else {
		b.WriteString("|-\n")
	}
	for line := range strings.SplitSeq(inner, "\n") {
		if line != "" {
			b.WriteString(indent + line)
		}
		b.WriteString("\n")
	}
}

// plainText is a text that every reader takes for one, unless it is one of wordsOfOthers.
var plainText = regexp.MustCompile(`^(\.{1,2}/)?[A-Za-z/][A-Za-z0-9_./@-]*([: ][A-Za-z0-9_./@-]+)*$`)

// wordsOfOthers are what readers of YAML 1.1 take for a boolean or for null.
var wordsOfOthers = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null)$`)

// WriteText returns a text as a scalar on one line: plain where it can be, else in double quotes.
func WriteText(text string) string {
	if plainText.MatchString(text) && !wordsOfOthers.MatchString(text) {
		return text
	}
	var b strings.Builder
	for _, c := range string(textNode(text).JSON()) {
		if c == 0x7F || c >= 0x80 && c < 0xA0 || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF || c == 0x2028 || c == 0x2029 {
			const digits = "0123456789abcdef"
			b.WriteString(`\u` + string(digits[c>>12]) + string(digits[c>>8&15]) + string(digits[c>>4&15]) + string(digits[c&15]))
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}
