package inputrules_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// sized is a property of about that many bytes.
func sized(size int) []byte {
	var items []string
	for total := 0; total < size; {
		item := fmt.Sprintf(`{"id":"input_%d","label":"Input","type":"string","description":"%s","required":true,"default":"v",
			"values":["v","w",{"value":"x","label":"X"}]}`,
			len(items), strings.Repeat("What it is for. ", 20))
		items = append(items, item)
		total += len(item)
	}
	return []byte(`{"id":"a","label":"A","type":"object_map","item_inputs":[` + strings.Join(items, ",") + `]}`)
}

func benchmarkDecode(b *testing.B, size int) {
	text := sized(size)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n, err := strictjson.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		p, violations := inputprop.NewRawProperty(n).Decode("")
		if len(violations) > 0 {
			b.Fatal(violations)
		}
		if violations, _, err := rules.Check(b.Context(), p, ""); err != nil || len(violations) > 0 {
			b.Fatal(violations, err)
		}
	}
}

func BenchmarkDecode2KB(b *testing.B)   { benchmarkDecode(b, 2<<10) }
func BenchmarkDecode200KB(b *testing.B) { benchmarkDecode(b, 200<<10) }

func BenchmarkDepth10000(b *testing.B) {
	text := []byte(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000))
	for b.Loop() {
		if _, err := strictjson.Parse(text); err == nil {
			b.Fatal("taken")
		}
	}
}
