package document

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"slipway/internal/base/strictjson"
)

var (
	// jsonNumber is JSON's grammar of numbers.
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	// otherNumber is what YAML 1.1, YAML 1.2 or one of their readers takes for a number besides, those of base 60 included.
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
		return nil, "is a number to some readers and a text to others; write it as JSON does, or quote it, found " + strictjson.Short(text)
	}
	return textNode(text), ""
}

func textNode(text string) *strictjson.Node {
	return &strictjson.Node{Kind: strictjson.String, Text: text}
}

// plainFlaw returns what keeps a text from being a plain scalar, "" where nothing does: goccy/go-yaml takes more for one
// than YAML does.
func plainFlaw(text string, inFlow bool) string {
	const indicators = ",[]{}#&*!|>'\"%@`"
	if text == "" {
		return ""
	}
	first := strings.IndexByte(indicators, text[0]) >= 0
	alone := strings.IndexByte("-?:", text[0]) >= 0 && (len(text) == 1 || isSpace(text[1]))
	if first || alone {
		return "must be quoted, for it begins with " + text[:1]
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == ':' && (i+1 == len(text) || isSpace(text[i+1])):
			return "must be quoted, for it contains a colon before a space"
		case inFlow && strings.IndexByte(",[]{}", c) >= 0:
			return "must be quoted within [] and {}, for it contains " + string(c)
		}
	}
	return ""
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// fold joins the lines of a plain or a single-quoted scalar: a line break is a space, each empty line a line break.
func fold(text string) string {
	lines := strings.Split(text, "\n")
	var b strings.Builder
	empty := 0
	for i, line := range lines {
		if i > 0 {
			line = strings.TrimLeft(line, " \t")
		}
		if i < len(lines)-1 {
			line = strings.TrimRight(line, " \t")
		}
		if i > 0 && line == "" && i < len(lines)-1 {
			empty++
			continue
		}
		writeBreaks(&b, i > 0, empty)
		b.WriteString(line)
		empty = 0
	}
	return b.String()
}

func writeBreaks(b *strings.Builder, isFolded bool, empty int) {
	if empty > 0 {
		b.WriteString(strings.Repeat("\n", empty))
	} else if isFolded {
		b.WriteByte(' ')
	}
}

// single returns the text of a single-quoted scalar, which raw is with its quotes.
func single(raw string) string {
	return fold(strings.ReplaceAll(raw[1:len(raw)-1], "''", "'"))
}

// escapes are the escaped characters of double-quoted scalars, and what they stand for.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// digitsOf are the numbers of hexadecimal digits of the escapes that have some.
var digitsOf = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// double returns the text of a double-quoted scalar, which raw is with its quotes, or what is wrong with it and the
// offset of that in raw.
func double(raw string) (text, flaw string, offset int) {
	b := make([]byte, 0, len(raw))
	kept := 0 // spaces before this were escaped, and stay before a line break
	for i := 1; i < len(raw)-1; {
		switch c := raw[i]; {
		case c == '\n':
			for len(b) > kept && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
				b = b[:len(b)-1]
			}
			next, empty := skipLines(raw, i)
			if b, i = append(b, strings.Repeat("\n", empty)...), next; empty == 0 {
				b = append(b, ' ')
			}
			kept = len(b)
		case c == '\\' && raw[i+1] == '\n':
			next, empty := skipLines(raw, i+1)
			b, i = append(b, strings.Repeat("\n", empty)...), next
			kept = len(b)
		case c == '\\':
			r, size := escape(raw[i:])
			if size == 0 {
				return "", "has an escape that there is not, or that stands for no character: " + strictjson.Quote(raw[i:min(i+6, len(raw)-1)]), i
			}
			b, i = append(b, r...), i+size
			kept = len(b)
		default:
			b, i = append(b, c), i+1
		}
	}
	return string(b), "", 0
}

// skipLines returns the offset behind a line break, the empty lines after it and the indentation, and how many empty
// lines there are.
func skipLines(raw string, i int) (next, empty int) {
	breaks := 0
	for ; isSpace(raw[i]); i++ {
		if raw[i] == '\n' {
			breaks++
		}
	}
	return i, breaks - 1
}

// escape returns what the escape at the beginning of a text stands for, and how long it is: 0 where it is none.
func escape(text string) (r string, size int) {
	if r, ok := escapes[text[1]]; ok {
		return r, 2
	}
	size = 2 + digitsOf[text[1]]
	code, ok := hex(text, 2, size)
	if size == 2 || !ok {
		return "", 0
	}
	if code >= 0xD800 && code < 0xDC00 && strings.HasPrefix(text[size:], `\u`) {
		low, ok := hex(text, size+2, size+6)
		if !ok || low < 0xDC00 || low > 0xDFFF {
			return "", 0
		}
		return string(0x10000 + (code-0xD800)<<10 + (low - 0xDC00)), size + 6
	}
	if !utf8.ValidRune(code) {
		return "", 0
	}
	return string(code), size
}

func hex(text string, from, to int) (rune, bool) {
	if to > len(text) {
		return 0, false
	}
	code, err := strconv.ParseUint(text[from:to], 16, 32)
	return rune(code), err == nil && code <= utf8.MaxRune
}
