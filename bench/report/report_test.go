package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"slipway/bench/report"
)

func TestMedianIsTheValueInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5},
	} {
		if found := report.Median(c.values); found != c.want {
			t.Errorf("of %v it is %v, want %v", c.values, found, c.want)
		}
	}
}

func TestPercentileIsTheTimeOfAShare(t *testing.T) {
	t.Parallel()
	var times []time.Duration
	for i := range time.Duration(100) {
		times = append(times, i+1)
	}
	for share, want := range map[float64]time.Duration{0: 1, .5: 51, .99: 100, 1: 100} {
		if found := report.Percentile(times, share); found != want {
			t.Errorf("of %v it is %v, want %v", share, found, want)
		}
	}
	if report.Percentile(nil, .5) != 0 {
		t.Error("of nothing it is something")
	}
}

func TestRatiosAreOfTheSameRound(t *testing.T) {
	t.Parallel()
	r := &report.Report{
		Requests: []report.Title{{Name: "A", Title: "a request"}, {Name: "R", Title: "one without a ceiling"}},
		Targets:  []string{"ours", "ceiling"}, Ceiling: "ceiling",
	}
	for i, ceiling := range []float64{100, 200, 1000} {
		ours := []float64{50, 40, 100}[i]
		for target, perSecond := range map[string]float64{"ours": ours, "ceiling": ceiling} {
			e := r.Entry("A", target)
			e.Rounds = append(e.Rounds, report.Measurement{PerSecond: perSecond})
		}
	}
	r.Entry("R", "ours").Rounds = []report.Measurement{{PerSecond: 7}}
	r.Compare()
	if found := r.Entry("A", "ours").Of(func(m report.Measurement) float64 { return m.Ratio }); found != .2 {
		t.Errorf("the median of .5, .2 and .1 is %v", found)
	}
	var text bytes.Buffer
	if err := r.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| ours | 0.20 (0.10 to 0.50) |\n", "| ours | 50 (40 to 100) | 0.20 |", "| ceiling | 200 (100 to 1000) | 1.00 |", "| ours | 7 (7 to 7) |  |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the tables lack %s\n%s", want, &text)
		}
	}
}
