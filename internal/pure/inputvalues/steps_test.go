package inputvalues_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/base/jsregexp"
	"slipway/internal/base/meter"
	"slipway/internal/pure/inputvalues"
)

// Each of these patterns is compiled and matched in less than it may take; five together take more than a request may.
func TestThePatternsOfARequestHaveOneSumOfSteps(t *testing.T) {
	t.Parallel()
	engine, err := jsregexp.New(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	const sum, perCost, most = 48_000_000, 2_400, 7
	text, class := strings.Repeat("a", 200), "["+strings.Repeat("āb", 300)+"]"
	var inputs, values []string
	var taken [most]int
	for i := range most {
		number := strconv.Itoa(i)
		pattern := "a*a*b" + number + class
		compiling, err := engine.Compile(t.Context(), pattern, jsregexp.MaxSteps)
		if err != nil || compiling < sum/100 {
			t.Fatalf("Compile took %d steps: %v", compiling, err)
		}
		_, matching, err := engine.Test(t.Context(), pattern, text, jsregexp.MaxSteps)
		if err != nil || matching < sum/5 {
			t.Fatalf("Test took %d steps: %v", matching, err)
		}
		taken[i] = compiling + matching
		inputs = append(inputs, in("i"+number, "text", `"patterns":[{"pattern":"`+pattern+`","message":"m"}]`))
		values = append(values, `"i`+number+`":"`+text+`"`)
	}
	for count := range most {
		steps, want := 0, []string{}
		for i := range count {
			if steps += taken[i]; steps < sum {
				want = append(want, "/i"+strconv.Itoa(i)+" pattern")
			} else {
				want = append(want, "/i"+strconv.Itoa(i)+" pattern_too_slow")
			}
		}
		m := meter.New(meter.Limits{}, 0, nil)
		list, given := mustDecodeList(t, "["+strings.Join(inputs[:count], ",")+"]"), parse(t, "{"+strings.Join(values[:count], ",")+"}")
		violations, err := inputvalues.NewEngine(engine).Validate(meter.With(t.Context(), m), list, given, "", inputvalues.Env{})
		if got := places(violations); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d patterns: %v, %v, want %v", count, got, err, want)
		}
		if charge, want := m.Charge()-m.Cost(), min(steps, sum)/perCost; charge < want || charge > want+1 {
			t.Errorf("%d patterns of %d steps are charged %d, want %d", count, steps, charge, want)
		}
	}
}
