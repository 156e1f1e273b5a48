package jsregexp_test

import (
	"fmt"
	"testing"
)

func BenchmarkTest(b *testing.B) {
	e := engine(b, 1)
	for name, c := range map[string][2]string{
		"slug":  {`^[a-z0-9]+(?:-[a-z0-9]+)*$`, "my-service-name"},
		"email": {`^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}$`, "jo+x@mail.example.org"},
		"arn":   {`^arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:\d{0,12}:.+$`, "arn:aws:iam::123456789012:role/deploy"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if ok, err := e.Test(b.Context(), c[0], c[1]); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	e := engine(b, 1)
	for i := 0; b.Loop(); i++ {
		if err := e.Compile(b.Context(), fmt.Sprintf(`^x%d(?<name>[a-z0-9._/-]+)(?::[\w][\w.-]{0,127})?$`, i)); err != nil {
			b.Fatal(err)
		}
	}
}
