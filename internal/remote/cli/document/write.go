package document

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"slipway/internal/base/strictjson"
)

// Write returns a value as YAML that Read reads as the same value: collections in block style, texts without quotes
// if nobody takes them for something else. Lines behind the first are indented by indent, and the last is ended.
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
var lines = regexp.MustCompile(`^\S`)

func writeScalar(b *strings.Builder, n *strictjson.Node, indent string) {
	inner, ended := strings.CutSuffix(n.Text, "\n")
	isOfLines := indent != "" && strings.Contains(n.Text, "\n") &&
		lines.MatchString(inner) && !strings.HasSuffix(inner, "\n")

	if n.Kind != strictjson.String || !isOfLines || strings.ContainsFunc(inner, unwritten) || IsCommand(inner) {
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

// WriteText returns a text as a scalar on one line: plain if it can be, else in double quotes.
func WriteText(text string) string {
	if plainText.MatchString(text) && !wordsOfOthers.MatchString(text) {
		return text
	}
	var b strings.Builder
	for _, c := range string(textNode(text).JSON()) {
		switch {
		case !Unseen(c) && c != 0xFFFE && c != 0xFFFF:
			b.WriteRune(c)
		case c > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return Disarm(b.String(), func(r rune) string { return fmt.Sprintf(`\x%02x`, r) })
}

// unwritten reports whether a character of a text of several lines cannot be written as it is.
func unwritten(c rune) bool { return c != '\n' && Unseen(c) || c == 0xFFFE || c == 0xFFFF }

// Unseen reports whether a character is not shown but does something, as to a terminal: a control character, a format
// character such as the bidirectional controls, or a line or paragraph separator. The joiners of emoji and of scripts
// are none.
func Unseen(c rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	isFormat := unicode.Is(unicode.Cf, c) && c != nonJoiner && c != joiner
	return isFormat || unicode.IsControl(c) || unicode.In(c, unicode.Zl, unicode.Zp)
}
