package document_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/remote/cli/document"
)

// texts are parts of keys and strings that readers of YAML have trouble with.
var texts = []string{"", "a", "true", "~", "1", "017", ".nan", "- x", ": ", " #", "'", `"`, `\`, "\n", "\n\n", "\t", " ", "é", "😀", "{", "]", "<<", "&a", "*a", "!x",
	"---", "...", "%", "@", "\u2028", "\u0085", "\x00", "|", ">", "key", "longer words here"}

var numbers = []string{"0", "-0", "1", "1.30", "-2.5e-3", "1e400", "12345678901234567890"}

// random makes random values; the same for the same seed.
type random struct{ *rand.Rand }

func (r random) text() string {
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(texts[r.IntN(len(texts))])
	}
	return b.String()
}

func (r random) value(depth int) *strictjson.Node {
	kind := strictjson.Kind(r.IntN(6))
	if depth == 0 {
		kind = strictjson.Kind(r.IntN(4))
	}
	n := &strictjson.Node{Kind: kind}
	switch kind {
	case strictjson.Bool:
		n.Bool = r.IntN(2) == 0
	case strictjson.Number:
		n.Text = numbers[r.IntN(len(numbers))]
	case strictjson.String:
		n.Text = r.text()
	case strictjson.Array:
		for range r.IntN(4) {
			n.Items = append(n.Items, r.value(depth-1))
		}
	case strictjson.Object:
		for i := range r.IntN(4) {
			n.Append(r.text()+strconv.Itoa(i), r.value(depth-1))
		}
	case strictjson.Null:
	}
	return n
}

// yaml writes a value as YAML in a random style; it begins where the line is, and ends it.
func (r random) yaml(n *strictjson.Node, indent string) string {
	isEmpty := len(n.Items) == 0
	if isEmpty || r.IntN(4) == 0 {
		return r.flow(n, indent) + r.comment() + "\n"
	}
	var b strings.Builder
	for i, item := range n.Items {
		if i > 0 {
			b.WriteString(indent)
		}
		if n.Kind == strictjson.Array {
			b.WriteString("- " + r.yaml(item, indent+"  "))
			continue
		}
		b.WriteString(r.quoted(n.Keys[i]) + ":")
		inner := indent + "   "
		if (item.Kind == strictjson.Array || item.Kind == strictjson.Object) && len(item.Items) > 0 {
			if text := r.yaml(item, inner); strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
				b.WriteString(" " + text)
			} else {
				b.WriteString(r.comment() + "\n" + inner + text)
			}
			continue
		}
		b.WriteString(" " + r.scalarOrBlock(item, inner))
	}
	return b.String()
}

func (r random) comment() string {
	return []string{"", "", " # a 'comment", "  "}[r.IntN(4)]
}

// scalarOrBlock writes a scalar, as a literal if that is possible.
func (r random) scalarOrBlock(n *strictjson.Node, indent string) string {
	isLine := func(c rune) bool {
		return c == '\n' || c >= ' ' && c != 0x85 && c != 0x7F && c != 0xFEFF && c != 0x2028
	}
	if n.Kind != strictjson.String || r.IntN(2) == 0 || strings.Trim(n.Text, "\n") == "" || strings.IndexFunc(n.Text, func(c rune) bool { return !isLine(c) }) >= 0 {
		return r.flow(n, indent) + r.comment() + "\n"
	}
	body := strings.ReplaceAll(indent+strings.TrimSuffix(n.Text, "\n"), "\n", "\n"+indent) + "\n"
	if strings.HasSuffix(n.Text, "\n") {
		return "|3+\n" + body
	}
	return "|3-\n" + body
}

// flow writes a value on one line.
func (r random) flow(n *strictjson.Node, indent string) string {
	var parts []string
	for i, item := range n.Items {
		part := r.flow(item, indent)
		if n.Kind == strictjson.Object {
			part = r.quoted(n.Keys[i]) + ": " + part
		}
		parts = append(parts, part)
	}
	space := []string{"", " ", "\n " + indent}[r.IntN(3)]
	switch n.Kind {
	case strictjson.String:
		return r.quoted(n.Text)
	case strictjson.Array:
		return "[" + strings.Join(parts, ","+space) + "]"
	case strictjson.Object:
		return "{" + strings.Join(parts, ","+space) + "}"
	default:
		return string(n.JSON())
	}
}

func (r random) quoted(text string) string {
	printable := strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c == 0x85 || c == 0x2028 }) < 0
	isPlain := text != "" && strings.Trim(text, "aé😀 kylongerwdsh") == "" && strings.TrimSpace(text) == text
	switch {
	case isPlain && r.IntN(2) == 0:
		return text
	case printable && r.IntN(2) == 0:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c == 0x85 || c == 0x2028:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return `"` + b.String() + `"`
}

func TestJSONAndYAMLOfAValueAreOne(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4000) {
		r := random{rand.New(rand.NewPCG(seed, 0))}
		value := r.value(5)
		want := string(value.JSON())
		var indented bytes.Buffer
		if err := json.Indent(&indented, value.JSON(), "", "\t"); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{want, indented.String(), r.yaml(value, ""), document.Write(value, "")} {
			d, err := document.Read("x.yaml", []byte(text))
			if err != nil {
				t.Fatalf("seed %d: %v in\n%s", seed, err, text)
			}
			if got := string(d.JSON()); got != want {
				t.Fatalf("seed %d: read as %s, want %s, from\n%s", seed, got, want, text)
			}
		}
	}
}
