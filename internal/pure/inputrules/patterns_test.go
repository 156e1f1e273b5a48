package inputrules_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/jsregexp"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputprop/inputtest"
	"slipway/internal/pure/inputrules"
)

func TestPatternsThatMayNotWorkEverywhereDrawAWarning(t *testing.T) {
	t.Parallel()
	violations, warnings := checked(t, in("s", "string", `"patterns":[{"pattern":"a\\-b","message":"m"}]`))
	want := inputprop.Warning{Pointer: "/0/patterns/0/pattern", Rule: "pattern_portability", Message: "u flag would refuse it"}
	if len(violations) > 0 || len(warnings) != 1 || warnings[0] != want {
		t.Error(violations, warnings)
	}
}

func TestPatternsMeanWhatABrowserMeans(t *testing.T) {
	t.Parallel()
	engine, err := jsregexp.New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	list := mustDecodeList(t, "["+in("a", "string", `"patterns":[{"pattern":"^(?=.*\\d)(?<first>[a-z]).*\\k<first>$","message":"m"}]`, `"default":"a1a"`)+","+
		in("b", "string", `"patterns":[{"pattern":"^a{2,1}$","message":"m"}]`)+","+
		in("c", "string", `"patterns":[{"pattern":"^(?=(a+)+$)a","message":"m"}]`, `"default":"`+strings.Repeat("a", 40)+`!"`)+"]")
	violations, _, err := inputrules.NewEngine(engine).CheckList(t.Context(), list, "")
	if got := places(violations); err != nil || !slices.Equal(got, []string{"/1/patterns/0/pattern pattern_syntax", "/2/default pattern_too_slow"}) {
		t.Error(got, err)
	}
}

func TestAPatternThatCannotBeRunIsNoVerdict(t *testing.T) {
	t.Parallel()
	list := mustDecodeList(t, "["+in("a", "string", `"patterns":[{"pattern":"busy","message":"m"}]`, `"default":"a"`)+"]")
	if violations, _, err := rules.CheckList(t.Context(), list, ""); !errors.Is(err, errBusy) || violations != nil {
		t.Error(violations, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := rules.CheckList(gone, mustDecodeList(t, "[]"), ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// counting counts the matches.
type counting struct {
	inputtest.Patterns
	tests int
}

func (c *counting) Test(ctx context.Context, pattern, text string, steps int) (bool, int, error) {
	c.tests++
	return c.Patterns.Test(ctx, pattern, text, steps)
}

func TestPatternsCannotKeepTheServerBusy(t *testing.T) {
	t.Parallel()
	patterns := func(count int, pattern string) string {
		return `"patterns":[` + strings.TrimSuffix(strings.Repeat(`{"pattern":"`+pattern+`","message":"m"},`, count), ",") + `]`
	}
	values := `["a"` + strings.Repeat(`,"b"`, 499) + `]`
	slow := &counting{}
	list := mustDecodeList(t, "["+in("a", "string_array", patterns(3, "slow"), `"default":`+values)+"]")
	if _, _, err := inputrules.NewEngine(slow).CheckList(t.Context(), list, ""); err != nil || slow.tests != 1 {
		t.Errorf("a slow pattern was tried %d times: %v", slow.tests, err)
	}
	slow = &counting{}
	list = mustDecodeList(t, "["+in("a", "string", patterns(1, "slow"), `"default":"a"`)+","+in("b", "string", patterns(1, "^b$"), `"default":"b"`)+"]")
	violations, _, err := inputrules.NewEngine(slow).CheckList(t.Context(), list, "")
	if got := places(violations); err != nil || slow.tests != 1 || !slices.Equal(got, []string{"/0/default pattern_too_slow", "/1/default pattern_too_slow"}) {
		t.Errorf("after a slow pattern others were tried, %d times in all: %v %v", slow.tests, got, err)
	}
	many := &counting{}
	list = mustDecodeList(t, "["+in("a", "string_array", patterns(100, "[ab]"), `"default":`+values)+"]")
	violations, _, err = inputrules.NewEngine(many).CheckList(t.Context(), list, "")
	if err != nil || many.tests != 8_000 || len(violations) == 0 || violations[0].Rule != "max_tests" {
		t.Errorf("%d matches: %v %v", many.tests, err, violations[:min(1, len(violations))])
	}
}

func TestThePatternsOfASchemaAreOnlySoLongTogether(t *testing.T) {
	t.Parallel()
	input := func(id string, count int) string {
		pattern := strings.Repeat("a", 1000)
		return in(id, "text", `"patterns":[`+strings.TrimSuffix(strings.Repeat(`{"pattern":"`+pattern+`","message":"m"},`, count), ",")+`]`)
	}
	for count, want := range map[int][]string{32: {}, 33: {"/1/patterns/16/pattern max_patterns"}} {
		list := mustDecodeList(t, "["+input("a", 16)+","+input("b", count-16)+"]")
		violations, _, err := rules.CheckList(t.Context(), list, "")
		if got := places(violations); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d patterns of 1,000 bytes: %v, %v, want %v", count, got, err, want)
		}
	}
}
