package inputvalues_test

import (
	"fmt"
	"testing"
)

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
		if violations, err := plain.Validate(b.Context(), list, given, "", env); err != nil || len(violations) > 0 {
			b.Fatal(violations, err)
		}
	}
}
