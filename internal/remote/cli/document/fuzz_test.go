package document_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/remote/cli/document"
)

// FuzzRead looks for texts that make the parser give up, that are read as something else than JSON has them, and for
// values that stand nowhere.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"a: 1\nb: [x, {c: d}]\n", "- |2\n   x\n- >-\n  y\n\n  z", "&a k: *a", "{\"a\":[1.50,\"\\u00e9\"]}", "a: 'it''s' # c\nb: \"x\\\n  y\"",
		"? a\n: b", "!!str 1", "--- a\n...\n", "a:\n- b\n-\n  - c", "<<: x", "%YAML 1.2\n---\n", "\t{}", "a: &x\n  b: 1\nc: *x", "[a: b, {c}]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := document.Read("x.yaml", []byte(text))
		if err != nil {
			if strings.Contains(err.Error(), "gave up") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := document.Read("x.json", d.JSON())
		if err != nil || !bytes.Equal(again.JSON(), d.JSON()) {
			t.Fatalf("%q is %s, and that is %v", text, d.JSON(), err)
		}
		if json.Valid([]byte(text)) {
			sameAsJSON(t, text, d)
		}
		lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\ufeff")), "\n")
		eachPointer(d.Root, "", func(pointer string) {
			for _, p := range []document.Position{d.Position(pointer), d.KeyPosition(pointer)} {
				if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len([]rune(lines[p.Line-1]))+1 {
					t.Fatalf("%q of %q stands at %v", pointer, text, p)
				}
			}
		})
	})
}

func sameAsJSON(t *testing.T, text string, d *document.Document) {
	t.Helper()
	values := [2]any{}
	for i, one := range []string{text, string(d.JSON())} {
		decoder := json.NewDecoder(strings.NewReader(one))
		decoder.UseNumber()
		if err := decoder.Decode(&values[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(values[0], values[1]) {
		t.Fatalf("%q is read as %s", text, d.JSON())
	}
}

func eachPointer(n *strictjson.Node, pointer string, f func(pointer string)) {
	f(pointer)
	var path strictjson.Path
	for i, item := range n.Items {
		path.Push(n, i)
		eachPointer(item, path.Pointer(pointer), f)
		path.Pop()
	}
}
