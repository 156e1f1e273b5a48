package jsregexp_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/internal/base/jsregexp"
)

// long is a text that takes matchers long: 10,000 times the same character.
var long = strings.Repeat("a", 10_000)

// unkind are patterns and texts that took QuickJS's own matcher far longer than it was given.
var unkind = []struct{ pattern, text string }{
	{`(?=(a?){1,65000})x`, long},
	{`(?=(?:a?){1,65000})x`, long},
	{`(?=(a*?){1,65000})x`, long},
	{`(?:(?=a{0,9000}))*x`, long},
	{strings.Repeat(`(?=a*)`, 50) + "x", long},
	{strings.Repeat(`(?!a*x)`, 50) + "x", long},
	{strings.Repeat(`(?<=a*)`, 50) + "x", long},
	{strings.Repeat(`(?<!xa*)`, 50) + "x", long},
	{strings.Repeat("(?=", 300) + "(?:a?){1,9000}" + strings.Repeat(")", 300) + "x", long},
	{"()" + strings.Repeat("(?=", 300) + "(a?){1,9000}" + strings.Repeat(")", 300), long},
	{`(?:a){9000}x`, long},
	{`(?:(a)){9000}x`, long},
	{"(?:" + strings.Repeat("()", 250) + "a)*x", long},
	{"(?:" + strings.Repeat("(x)?", 50) + "a)*?x", long},
	{`(?=(a*))\1*?x`, long},
	{`(a*)(?:\1\1x|)*x`, long},
	{`(?i:(a*)(?:\1\1x|)*x)`, strings.Repeat("aA", 5_000)},
	{`(?!.{2,})`, strings.Repeat("é", 10_000)},
	{`[^\-]{2,}\d`, strings.Repeat("😀", 10_000)},
	{`[\u0100-\u017f]*[\u0101-\u017f]*\d`, strings.Repeat("ā", 10_000)},
	{`(?:(?:a?){65000}){65000}b`, hung},
	{`(?:){2147483647}b`, "a"},
	{`\b\B\b|a*\bb`, long},
	{hang, hung},
}

// yardstick measures the CPU of matches against that of a match that takes all its steps. What the machine does besides,
// and what the race detector adds, slows both.
type yardstick struct{ engine *jsregexp.Engine }

// slower reports how many times longer a match takes than one of all its steps should, at the least in a few tries.
func (y yardstick) slower(t testing.TB, pattern, text string) float64 {
	t.Helper()
	least := 0.0
	for i := range 5 {
		each := cpu(t, func() { _, _ = test(t, y.engine, pattern, text) })
		if each < 20*time.Millisecond {
			return 0
		}
		whole := cpu(t, func() { _, _ = test(t, y.engine, hang, hung) })
		if times := float64(each) / float64(whole); i == 0 || times < least {
			least = times
		}
		if least < mostTimes {
			break
		}
	}
	return least
}

// mostTimes is how many times longer than another a match of all its steps may take: one of hang takes 50 to 60 ms, none
// more than 100.
const mostTimes = 1.9

func TestNoMatchTakesLongerThanItsSteps(t *testing.T) {
	t.Parallel()
	y := yardstick{engine(t, 1)}
	for _, c := range unkind {
		_, taken, err := y.engine.Test(t.Context(), c.pattern, c.text, jsregexp.MaxSteps)
		if taken > jsregexp.MaxSteps || err != nil && !errors.Is(err, jsregexp.ErrTooSlow) {
			t.Errorf("Test(%.40q) took %d steps: %v", c.pattern, taken, err)
		}
		if times := y.slower(t, c.pattern, c.text); times > mostTimes {
			t.Errorf("Test(%.40q) takes %.1f times as long as another of as many steps", c.pattern, times)
		}
	}
}

func TestAnswersThatAreNearTheLimitAreRight(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{`(?=(a?){1,65000})x`, long[:1000], false},
		{`(?=(a?){1,65000})x`, long[:999] + "x", true},
		{strings.Repeat("(?=", 300) + "(?:a?){1,9000}" + strings.Repeat(")", 300), long, true},
		{`^(?:(a)|(b)|(c)|(d))*$`, strings.Repeat("abcd", 2_500), true},
	} {
		if got, err := test(t, e, c.pattern, c.text); got != c.want || err != nil {
			t.Errorf("Test(%.40q) = %t, %v, want %t", c.pattern, got, err, c.want)
		}
	}
}

// A match takes the same steps whatever was matched before and whatever else is matched, is answered in exactly these, and
// not in one less.
func TestTheStepsDependOnPatternAndTextAlone(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(5, 6))}
	busy, alone := engine(t, 3), engine(t, 1)
	type match struct {
		pattern, text string
		matches       bool
		taken         int
	}
	var all []match
	for len(all) < 200 {
		m := match{pattern: g.pattern(3), text: g.uniform(200)}
		var err error
		if m.matches, m.taken, err = alone.Test(t.Context(), m.pattern, m.text, jsregexp.MaxSteps); err == nil {
			all = append(all, m)
		}
	}
	var done sync.WaitGroup
	for range 3 {
		done.Go(func() {
			for _, m := range all {
				got, taken, err := busy.Test(t.Context(), m.pattern, m.text, m.taken)
				if got != m.matches || taken != m.taken || err != nil {
					t.Errorf("Test(%q, %.20q) = %t in %d steps, %v, before %t in %d", m.pattern, m.text, got, taken, err, m.matches, m.taken)
				}
				if _, taken, err := busy.Test(t.Context(), m.pattern, m.text, m.taken-1); !errors.Is(err, jsregexp.ErrTooSlow) || taken > m.taken {
					t.Errorf("Test(%q, %.20q) in %d steps: %d, %v", m.pattern, m.text, m.taken-1, taken, err)
				}
			}
		})
	}
	done.Wait()
}

// Callers are charged for steps, and a kind of work that is not counted may double no time: nothing is undone that was not
// done before. Where costs are measured anew, these change with them.
func TestEachKindOfWorkTakesItsSteps(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	for name, c := range map[string]struct {
		pattern, text string
		want          int
	}{
		"characters":           {`^a*$`, long[:100], 760},
		"a text that is read":  {`^a`, long[:2_000], 1075},
		"what goes back":       {`^(?:a|b)*x`, long[:100], 3829},
		"groups that go back":  {`^(?:(a)|(b))*x`, long[:100], 5955},
		"a lookahead":          {`^(?=a*)x`, long[:100], 2276},
		"what it keeps":        {`^a(?=(a)*)x`, long[:100], 3079},
		"a negative lookahead": {`^(?!a*)x`, long[:100], 2274},
		"groups that it drops": {`^(?!(?:(a))*)x`, long[:100], 3139},
		"a lookbehind":         {`(?<=^a*)$`, long[:100], 49_123},
		"bounded loops":        {`^(?:a?){1,50}$`, long[:50], 832},
		"groups of a loop":     {"^(?:" + strings.Repeat("()", 100) + "a)*$", long[:10], 8758},
		"references":           {`^(a*)\1$`, long[:1_000], 12_637},
		"references, any case": {`(?i:^(a*)\1$)`, strings.Repeat("aA", 500), 14_139},
	} {
		if _, taken, err := e.Test(t.Context(), c.pattern, c.text, jsregexp.MaxSteps); taken != c.want || err != nil {
			t.Errorf("%s: Test(%.40q) took %d steps, %v, want %d", name, c.pattern, taken, err, c.want)
		}
	}
}

func TestAMatchTakesNoMoreThanItsSteps(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	for _, steps := range []int{1, 1_000, jsregexp.MaxSteps, jsregexp.MaxSteps + 1, math.MaxInt} {
		_, taken, err := e.Test(t.Context(), `a*a*b`, long[:300], steps)
		if want := min(steps, jsregexp.MaxSteps); taken != want || !errors.Is(err, jsregexp.ErrTooSlow) {
			t.Errorf("Test in %d steps took %d, %v, want ErrTooSlow after %d", steps, taken, err, want)
		}
	}
}

func TestAMatchHasSoMuchMemoryAndNoMore(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	e := engine(t, 1)
	allocated := func(pattern string) uint64 {
		if err := compile(t, e, pattern); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := test(t, e, pattern, strings.Repeat("a", 100_000))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, jsregexp.ErrTooSlow) {
			t.Errorf("Test(%.30q) = %v, want ErrTooSlow", pattern, err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	// The last stack has 16 MiB; those before it, which it was copied from, have as many together.
	for _, pattern := range []string{"(?:" + strings.Repeat("()", 250) + "a)*x", "(?:" + strings.Repeat("(a)", 90) + ")*x"} {
		if bytes := allocated(pattern); bytes > 36<<20 {
			t.Errorf("Test(%.30q) allocated %d bytes", pattern, bytes)
		}
	}
	if words, most := e.KeptStack(); words > most {
		t.Errorf("%d words are kept, at most %d may be", words, most)
	}
}

func TestCompilingTakesStepsOrIsRefused(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	class := "[" + strings.Repeat("āb", 300) + "]"
	taken, err := e.Compile(t.Context(), class, jsregexp.MaxSteps)
	if err != nil || taken < 500_000 {
		t.Fatalf("Compile took %d steps: %v", taken, err)
	}
	for range 2 { // the second finds it compiled
		if again, err := e.Compile(t.Context(), class, taken); again != taken || err != nil {
			t.Errorf("Compile again took %d steps: %v, want %d", again, err, taken)
		}
		if _, err := e.Compile(t.Context(), class, taken-1); !errors.Is(err, jsregexp.ErrTooSlow) {
			t.Errorf("Compile in a step less = %v, want ErrTooSlow", err)
		}
	}
	if _, err := e.Compile(t.Context(), class+"(", taken-1); !errors.Is(err, jsregexp.ErrTooSlow) {
		t.Errorf("Compile of a new pattern = %v, want ErrTooSlow", err)
	}
	if refused, err := e.Compile(t.Context(), class+"(", jsregexp.MaxSteps); refused < taken || err == nil {
		t.Errorf("Compile of what is refused took %d steps: %v", refused, err)
	}
}
