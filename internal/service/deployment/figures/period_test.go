package figures_test

import (
	"strings"
	"testing"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/service/deployment/figures"
)

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestAPeriodHasAtMostFourHundredBuckets(t *testing.T) {
	t.Parallel()
	now := at("2026-03-31 12:00")
	for name, c := range map[string]struct {
		from, before string
		by           figures.Unit
		says         string
	}{
		"400 days":                  {"2025-01-01 00:00", "2026-02-05 00:00", figures.Day, ""},
		"400 days and a minute":     {"2025-01-01 00:00", "2026-02-05 00:01", figures.Day, "more than 400 buckets by DAY"},
		"its first and last in two": {"2024-12-31 23:59", "2026-02-04 00:01", figures.Day, "more than 400 buckets"},
		"the same in months":        {"2024-12-31 23:59", "2026-02-04 00:01", figures.Month, ""},
		"a million days":            {"0001-01-01 00:00", "9999-12-31 00:00", figures.Day, "ask for a shorter period or longer buckets"},
		"nothing":                   {"2026-01-01 00:00", "2026-01-01 00:00", figures.Week, "from must be earlier than before, which is 2026-01-01T00:00:00Z, found 2026-01-01T00:00:00Z"},
		"the wrong way":             {"2026-01-02 00:00", "2026-01-01 00:00", figures.Week, "from must be earlier than before"},
		"the future":                {"2026-04-01 00:00", "", figures.Week, "from must be earlier than now"},
		"until now":                 {"2026-03-01 00:00", "", figures.Week, ""},
	} {
		var before *time.Time
		if c.before != "" {
			before = new(at(c.before))
		}
		_, err := figures.NewPeriod(at(c.from), before, c.by, now)
		if (err == nil) != (c.says == "") || err != nil && (!fault.Is(err, fault.RequestInvalid) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
