package jsregexp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/internal/base/jsregexp"
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
				if ok, err := test(b, e, c[0], c[1]); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	e := engine(b, 1)
	for i := 0; b.Loop(); i++ {
		if err := compile(b, e, fmt.Sprintf(`^x%d(?<name>[a-z0-9._/-]+)(?::[\w][\w.-]{0,127})?$`, i)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTestBeside matches alone, and while somebody else keeps one of four machines busy with a
// pattern that hangs. It reports the median, which a rare wait for a processor does not move.
func BenchmarkTestBeside(b *testing.B) {
	for _, hanging := range []bool{false, true} {
		b.Run(fmt.Sprintf("hanging=%t", hanging), func(b *testing.B) {
			e := engine(b, 4)
			ctx, stop := context.WithCancel(b.Context())
			var attacker sync.WaitGroup
			if hanging {
				attacker.Go(func() {
					for ctx.Err() == nil {
						_, _, _ = e.Test(ctx, `^(a+)+$`, strings.Repeat("a", 40)+"!", jsregexp.MaxSteps)
					}
				})
			}
			var times []time.Duration
			for b.Loop() {
				begun := time.Now()
				if ok, err := test(b, e, `^[a-z0-9]+(?:-[a-z0-9]+)*$`, "my-service-name"); !ok || err != nil {
					b.Fatal(ok, err)
				}
				times = append(times, time.Since(begun))
			}
			stop()
			attacker.Wait()
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "median-ns/op")
		})
	}
}
