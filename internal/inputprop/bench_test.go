package inputprop_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/strictjson"

	"slipway/internal/inputprop"
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
		if violations, _, err := plain.Check(b.Context(), p, ""); err != nil || len(violations) > 0 {
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

// chained are inputs of which each is shown by the one before it.
func chained(count int) (list, values string) {
	for i := range count {
		if i == 0 {
			list, values = in("f0", "text"), `"f0":"x"`
			continue
		}
		list += "," + in(fmt.Sprintf("f%d", i), "text", shown(fmt.Sprintf(`"f%d":"x"`, i-1)))
		values += fmt.Sprintf(`,"f%d":"x"`, i)
	}
	return "[" + list + "]", "{" + values + "}"
}

func BenchmarkResolve200Chained(b *testing.B) {
	text, values := chained(200)
	list, given := mustDecodeList(b, text), parse(b, values)
	b.ReportAllocs()
	for b.Loop() {
		r, _, err := plain.Resolve(b.Context(), list, given, "", env)
		if err != nil || len(r.Levels[0].Visible) != 200 {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate200Chained(b *testing.B) {
	text, values := chained(200)
	list, given := mustDecodeList(b, text), parse(b, values)
	b.ReportAllocs()
	for b.Loop() {
		if violations, err := plain.Validate(b.Context(), list, given, "", inputprop.Context{Env: env}); err != nil || len(violations) > 0 {
			b.Fatal(violations, err)
		}
	}
}
