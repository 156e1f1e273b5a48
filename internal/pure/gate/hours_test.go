package gate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"slipway/internal/pure/gate"
)

// isOpen says by the text of the clock on the wall whether a moment is in a span, the slow way.
func isOpen(h *gate.Hours, at time.Time, zone *time.Location) bool {
	wall := at.In(zone)
	clock, today := wall.Format("15:04"), gate.Weekdays[wall.Weekday()]
	yesterday := gate.Weekdays[(int(wall.Weekday())+6)%7]
	return slices.ContainsFunc(h.Spans, func(s gate.Span) bool {
		if s.From < s.To {
			return slices.Contains(s.Days, today) && s.From <= clock && clock < s.To
		}
		return slices.Contains(s.Days, today) && s.From <= clock || slices.Contains(s.Days, yesterday) && clock < s.To
	})
}

func anySpans(r *rand.Rand) []gate.Span {
	var spans []gate.Span
	for range 1 + r.IntN(3) {
		clock := func() string { return fmt.Sprintf("%02d:%02d", r.IntN(24), []int{0, 1, 15, 30, 59}[r.IntN(5)]) }
		s := gate.Span{From: clock(), To: clock()}
		for s.To == s.From {
			s.To = clock()
		}
		if r.IntN(8) == 0 {
			s.From, s.To = "00:00", "24:00"
		}
		for _, day := range gate.Weekdays {
			if r.IntN(3) > 0 {
				s.Days = append(s.Days, day)
			}
		}
		if s.Days == nil {
			s.Days = []gate.Weekday{gate.Sunday}
		}
		spans = append(spans, s)
	}
	return spans
}

// Both nights of summer time, in three zones, one of which moves by half an hour.
func TestHoursAreThoseOfTheClockOnTheWall(t *testing.T) {
	t.Parallel()
	for name, nights := range map[string][]string{
		"Europe/Berlin": {"2026-03-29", "2026-10-25"}, "America/New_York": {"2026-03-08", "2026-11-01"}, "Australia/Lord_Howe": {"2026-04-05", "2026-10-04"},
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, night := range nights {
			day, err := time.Parse(time.DateOnly, night)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(35, uint64(day.Unix())))
			for range 12 {
				h := &gate.Hours{TimeZone: name, Spans: anySpans(r)}
				if wrong := (gate.Demand{Kind: h}).Check([]gate.Operation{gate.Create}); len(wrong) > 0 {
					t.Fatalf("%v", wrong)
				}
				againstBruteForce(t, h, zone, day.AddDate(0, 0, -2))
			}
		}
	}
}

func againstBruteForce(t *testing.T, h *gate.Hours, zone *time.Location, from time.Time) {
	t.Helper()
	const minutes = 12 * 24 * 60
	opens := make([]int, minutes+1) // the first minute from one on that is open
	opens[minutes] = -1
	for i := minutes - 1; i >= 0; i-- {
		if opens[i] = opens[i+1]; isOpen(h, from.Add(time.Duration(i)*time.Minute), zone) {
			opens[i] = i
		}
	}
	rules := []gate.Rule{{Name: "hours", Operations: []gate.Operation{gate.Create}, Demand: gate.Demand{Kind: h}}}
	for i := range 4 * 24 * 60 {
		at := from.Add(time.Duration(i) * time.Minute)
		list, err := gate.Judge(t.Context(), rules, gate.Facts{Operation: gate.Create}, at)
		if err != nil {
			t.Fatal(err)
		}
		got := list[0]
		switch {
		case got.Met != (opens[i] == i):
			t.Fatalf("%+v at %s: met is %v", h, at.In(zone), got.Met)
		case !got.Met && opens[i] < 0:
			continue
		case !got.Met && (got.At == nil || !got.At.Equal(from.Add(time.Duration(opens[i])*time.Minute))):
			t.Fatalf("%+v at %s: opens at %v, want %s", h, at.In(zone), got.At, from.Add(time.Duration(opens[i])*time.Minute).In(zone))
		}
	}
}
