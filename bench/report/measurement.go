// Package report has what was measured, and shows it.
package report

import (
	"cmp"
	"slices"
	"time"
)

// Measurement is one target under one kind of request in one round. What is 0 was not measured.
type Measurement struct {
	Requests  int     `json:"requests"`
	PerSecond float64 `json:"perSecond"`
	// P50 and P99 are how long half of the requests, and 99 % of them, took at most.
	P50 time.Duration `json:"p50Nanoseconds,omitempty"`
	P99 time.Duration `json:"p99Nanoseconds,omitempty"`
	// ServerCPU and DatabaseCPU are the time of a processor for one request.
	ServerCPU   time.Duration `json:"serverCpuNanoseconds,omitempty"`
	DatabaseCPU time.Duration `json:"databaseCpuNanoseconds,omitempty"`
	// Bytes are those of one answer, PeakMemory the most that the server had.
	Bytes      float64 `json:"bytes,omitempty"`
	PeakMemory int     `json:"peakMemory,omitempty"`
	// Ratio is PerSecond through that of the ceiling in the same round.
	Ratio float64 `json:"ratio,omitempty"`
}

// Entry is one target under one kind of request.
type Entry struct {
	Request string        `json:"request"`
	Target  string        `json:"target"`
	Rounds  []Measurement `json:"rounds"`
}

// Of returns the median of one figure over the rounds.
func (e *Entry) Of(figure func(Measurement) float64) float64 { return Median(e.values(figure)) }

// Range returns the least and the greatest of one figure.
func (e *Entry) Range(figure func(Measurement) float64) (least, greatest float64) {
	values := e.values(figure)
	if len(values) == 0 {
		return 0, 0
	}
	return slices.Min(values), slices.Max(values)
}

func (e *Entry) values(figure func(Measurement) float64) []float64 {
	values := make([]float64, len(e.Rounds))
	for i, m := range e.Rounds {
		values[i] = figure(m)
	}
	return values
}

// Median returns the value in the middle, or between the two in the middle; 0 of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Percentile returns how long a share of the sorted times took at most; 0 of none.
func Percentile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// Report is a whole run.
type Report struct {
	// Setting is what was measured and where, a line each.
	Setting []string `json:"setting"`
	// Requests are the names of the kinds of requests with their titles, in the order of the table.
	Requests []Title `json:"requests"`
	// Targets are the names of the targets, in the order of the table.
	Targets []string `json:"targets"`
	// Ceiling is the name of the target that the others are compared with, empty for none.
	Ceiling string   `json:"ceiling,omitempty"`
	Entries []*Entry `json:"entries"`
}

// Title is the name of a kind of request, and what it asks for.
type Title struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// Entry returns the entry of a target under a kind of request, which is empty if it is new.
func (r *Report) Entry(request, target string) *Entry {
	if e := r.find(request, target); e != nil {
		return e
	}
	e := &Entry{Request: request, Target: target}
	r.Entries = append(r.Entries, e)
	return e
}

func (r *Report) find(request, target string) *Entry {
	for _, e := range r.Entries {
		if e.Request == request && e.Target == target {
			return e
		}
	}
	return nil
}

// Compare sets the ratios to the ceiling: of each round to the same round.
func (r *Report) Compare() {
	for _, e := range r.Entries {
		ceiling := r.find(e.Request, r.Ceiling)
		if ceiling == nil {
			continue
		}
		for i := range e.Rounds[:min(len(e.Rounds), len(ceiling.Rounds))] {
			e.Rounds[i].Ratio = e.Rounds[i].PerSecond / cmp.Or(ceiling.Rounds[i].PerSecond, 1)
		}
	}
}
