package gate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/pure/gate"
)

func hours(zone string, spans ...gate.Span) gate.Demand {
	return gate.Demand{Kind: &gate.Hours{TimeZone: zone, Spans: spans}}
}

func frozen(from time.Time, until *time.Time) gate.Demand {
	return gate.Demand{Kind: &gate.Freeze{From: from, Until: until}}
}

// opens returns when all of some rules are met next.
func opens(t *testing.T, at time.Time, demands ...gate.Demand) *time.Time {
	t.Helper()
	var rules []gate.Rule
	for i, d := range demands {
		rules = append(rules, gate.Rule{ID: fmt.Sprint(i), Name: "R", Operations: []gate.Operation{gate.Create}, Demand: d})
	}
	list, err := gate.Judge(t.Context(), rules, gate.Facts{Operation: gate.Create}, at)
	if err != nil {
		t.Fatal(err)
	}
	return gate.Opens(list, at)
}

func TestAnOpeningIsFound(t *testing.T) {
	t.Parallel()
	everyDay := func(from, to string) gate.Span { return gate.Span{Days: gate.Weekdays, From: from, To: to} }
	utc := func(text string) *time.Time {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return &at
	}
	// 2026-11-26 is a Thursday.
	for name, c := range map[string]struct {
		at      string
		demands []gate.Demand
		want    *time.Time
	}{
		"nothing is closed":          {"2026-11-26T12:00:00Z", nil, utc("2026-11-26T12:00:00Z")},
		"a freeze of six weeks":      {"2026-11-26T12:00:00Z", []gate.Demand{frozen(noon.Add(-time.Hour), new(noon.AddDate(0, 0, 42)))}, utc("2027-01-07T12:00:00Z")},
		"a freeze of two years":      {"2026-11-26T12:00:00Z", []gate.Demand{frozen(noon, new(noon.AddDate(2, 0, 0)))}, utc("2028-11-26T12:00:00Z")},
		"a freeze without an end":    {"2026-11-26T12:00:00Z", []gate.Demand{frozen(noon, nil)}, nil},
		"freezes one in another":     {"2026-11-26T12:00:00Z", []gate.Demand{frozen(noon, new(noon.Add(time.Hour))), frozen(noon.Add(-1), new(noon.Add(time.Minute))), frozen(noon.Add(30*time.Minute), new(noon.Add(90*time.Minute)))}, utc("2026-11-26T13:30:00Z")},
		"the instant a freeze ends":  {"2026-11-26T12:00:00Z", []gate.Demand{frozen(noon, new(noon.Add(1500*time.Millisecond)))}, utc("2026-11-26T12:00:01.5Z")},
		"the instant a freeze began": {"2026-11-26T11:59:59.999999999Z", []gate.Demand{frozen(noon, nil)}, utc("2026-11-26T11:59:59.999999999Z")},
		"hours, to the second":       {"2026-11-26T08:12:34.5Z", []gate.Demand{hours("UTC", everyDay("09:00", "17:00"))}, utc("2026-11-26T09:00:00Z")},
		"hours that end":             {"2026-11-26T17:00:00Z", []gate.Demand{hours("UTC", everyDay("09:00", "17:00"))}, utc("2026-11-27T09:00:00Z")},
		"the last second of hours":   {"2026-11-26T16:59:59Z", []gate.Demand{hours("UTC", everyDay("09:00", "17:00"))}, utc("2026-11-26T16:59:59Z")},
		"hours of two zones": {"2026-11-26T00:00:00Z", []gate.Demand{
			hours("Europe/Berlin", everyDay("09:00", "17:00")), hours("America/New_York", everyDay("09:00", "17:00"))}, utc("2026-11-26T14:00:00Z")},
		"hours after a freeze that ends in the night": {"2026-11-26T12:00:00Z", []gate.Demand{
			hours("UTC", everyDay("09:00", "17:00")), frozen(noon, new(noon.AddDate(0, 0, 42).Add(7*time.Hour)))}, utc("2027-01-08T09:00:00Z")},
		"a freeze of each opening but the third": {"2026-11-26T00:00:00Z", []gate.Demand{
			hours("UTC", everyDay("12:00", "13:00")), frozen(noon, new(noon.Add(time.Hour))), frozen(noon.AddDate(0, 0, 1), new(noon.AddDate(0, 0, 1).Add(time.Hour)))}, utc("2026-11-28T12:00:00Z")},
		"hours that never agree": {"2026-11-26T12:00:00Z", []gate.Demand{hours("UTC", everyDay("09:00", "12:00")), hours("UTC", everyDay("12:00", "17:00"))}, nil},
		"hours that agree when one clock changes": {"2026-11-26T12:00:00Z", []gate.Demand{
			hours("UTC", everyDay("09:00", "10:00")), hours("Europe/Berlin", everyDay("11:00", "12:00"))}, utc("2027-03-28T09:00:00Z")},
	} {
		got := opens(t, *utc(c.at), c.demands...)
		if (got == nil) != (c.want == nil) || got != nil && !got.Equal(*c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A day and a half by the minute, over the nights of both kinds, beside what each rule says of itself.
func TestAnOpeningIsTheFirstMomentAtWhichEachRuleIsMet(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}
	r := rand.New(rand.NewPCG(44, 1))
	for round := range 60 {
		from := time.Date(2026, time.Month(3+7*(round%2)), 24+r.IntN(6), r.IntN(24), r.IntN(60), 0, 0, time.UTC)
		var demands []gate.Demand
		for range 1 + r.IntN(3) {
			demands = append(demands, hours(zones[r.IntN(len(zones))], anySpans(r)...))
		}
		for range r.IntN(3) {
			start := from.Add(time.Duration(r.IntN(3000)) * time.Minute)
			demands = append(demands, frozen(start, new(start.Add(time.Duration(1+r.IntN(2000))*time.Minute))))
		}
		got := opens(t, from, demands...)
		for at := from; at.Before(from.Add(36 * time.Hour)); at = at.Add(time.Minute) {
			met := true
			for _, d := range demands {
				one := opens(t, at, d)
				met = met && one != nil && one.Equal(at)
			}
			if met {
				if got == nil || !got.Equal(at) {
					t.Fatalf("round %d: %v, want %s for %+v", round, got, at, demands)
				}
				break
			}
			if got != nil && got.Equal(at) {
				t.Fatalf("round %d: %s is closed for %+v", round, at, demands)
			}
		}
	}
}

func TestRulesAreWorkBeforeTheyAreJudged(t *testing.T) {
	t.Parallel()
	rules := make([]gate.Rule, 100)
	for i := range rules {
		rules[i] = bound(demanded(1, actor.Developer))
	}
	m := meter.New(meter.Limits{Cost: 99}, 0, nil)
	_, err := gate.Judge(meter.With(t.Context(), m), rules, gate.Facts{Operation: gate.Create}, noon)
	if !fault.Is(err, fault.DocumentLimitExceeded) {
		t.Errorf("100 rules at a limit of 99: %v", err)
	}
	list, err := gate.Judge(meter.With(t.Context(), meter.New(meter.Limits{Cost: 100}, 0, nil)), rules, gate.Facts{Operation: gate.Create}, noon)
	if err != nil || len(list) != 100 {
		t.Errorf("100 rules at a limit of 100: %d, %v", len(list), err)
	}
}

func TestARefusalNamesTwentyRulesAndCountsTheRest(t *testing.T) {
	t.Parallel()
	for _, n := range []int{20, 21, 190} {
		rules := make([]gate.Rule, n)
		for i := range rules {
			rules[i] = bound(frozen(noon, nil))
			rules[i].ID = fmt.Sprint("rule_", i)
		}
		_, err := gate.AtCreation(judge(t, rules, gate.Facts{Operation: gate.Create}), noon)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok {
			t.Fatal(err)
		}
		items, ids := len(f.Details[0].Items), len(f.Metadata["ruleIds"].([]string))
		if want := min(n, 21); items != want || ids != 20 {
			t.Errorf("of %d rules: %d sentences and %d ids", n, items, ids)
		}
		if last := f.Details[0].Items[items-1]; n > 20 && last != fmt.Sprintf("%d more rules are not met.", n-20) {
			t.Errorf("of %d rules the last sentence is %q", n, last)
		}
	}
}
