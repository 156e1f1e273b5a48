package figures

import (
	"context"
	"math"
	"slices"
	"sort"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

// Statistics are figures about the deployments of a place, without those that were started outside.
type Statistics struct {
	Total *Figures
	// Buckets are in the order of time.
	Buckets []*Figures
}

// Figures are about the deployments that were created in a time.
type Figures struct {
	// From is the first moment of the time, and Before the first after it.
	From, Before                         time.Time
	Created, Succeeded, Failed, Canceled int32
	// Rollbacks include automatic ones.
	Rollbacks int32
	// FailureRate is the share that failed, or whose release a rollback replaced, of those that succeeded or failed. It
	// is nil if there are none.
	FailureRate *float64
	// MedianSeconds and P95Seconds are from start to success, nil without a success.
	MedianSeconds, P95Seconds *float64
	// MedianRestoreSeconds is from a failure to the next success of its instance that ships something, nil without one.
	MedianRestoreSeconds *float64
}

// OfOrganization returns the statistics of the actor's organization.
func (s *Service) OfOrganization(ctx context.Context, p Period) (*Statistics, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	of, err := s.statistics(ctx, "", []string{""}, p)
	return of[""], err
}

// StatisticsOf returns the statistics of places. Column is that of deployments which has the ids of the places.
func (s *Service) StatisticsOf(
	ctx context.Context, column string, ids []string, p Period,
) (map[string]*Statistics, error) {
	return s.statistics(ctx, column, ids, p)
}

func (s *Service) statistics(
	ctx context.Context, column string, ids []string, p Period,
) (map[string]*Statistics, error) {
	runs, err := s.read(ctx, column, ids, p)
	if err != nil {
		return nil, err
	}

	tallies := make(map[string]*tally, len(ids))
	for _, id := range ids {
		tallies[id] = newTally(p)
	}
	courses := map[string][]run{}
	for _, r := range runs {
		tallies[r.placeID].add(r)
		if r.hasEnded() {
			courses[r.instanceID] = append(courses[r.instanceID], r)
		}
	}

	later, err := s.laterSuccesses(ctx, courses, p)
	if err != nil {
		return nil, err
	}
	for instanceID, course := range courses {
		slices.SortFunc(course, func(a, b run) int { return a.completedAt.Compare(*b.completedAt) })
		tallies[course[0].placeID].addCourse(append(course, later[instanceID]...))
	}

	of := make(map[string]*Statistics, len(ids))
	for id, t := range tallies {
		of[id] = t.statistics()
	}
	return of, nil
}

// run is what the figures go by of a deployment.
type run struct {
	placeID, instanceID, status, trigger string
	releaseID                            *string
	createdAt                            time.Time
	startedAt, completedAt               *time.Time
	// later is whether it was created after the period. It is in no figure itself.
	later bool
}

func (r run) hasEnded() bool {
	return (r.status == "SUCCEEDED" || r.status == "FAILED") && r.completedAt != nil
}

// ships reports whether it was a success that shipped something, and did not destroy it.
func (r run) ships() bool { return r.status == "SUCCEEDED" && r.trigger != state.TriggerDestroy }

// replaces reports whether a success was a rollback to another release than that of an earlier success.
func (r run) replaces(earlier run) bool {
	return r.ships() && r.trigger == state.TriggerRollback && earlier.ships() &&
		r.releaseID != nil && earlier.releaseID != nil && *r.releaseID != *earlier.releaseID
}

// tally adds up the figures of a period and of each of its buckets.
type tally struct {
	period  Period
	total   sum
	buckets []sum
}

// sum adds up the figures of a time.
type sum struct {
	figures           Figures
	replaced          int32
	seconds, restores []float64
}

func newTally(p Period) *tally {
	t := &tally{period: p, buckets: make([]sum, len(p.begins))}
	t.total.figures.From, t.total.figures.Before = p.begins[0], p.before
	for i, from := range p.begins {
		t.buckets[i].figures.From, t.buckets[i].figures.Before = from, p.before
		if i > 0 {
			t.buckets[i-1].figures.Before = from
		}
	}
	return t
}

// each calls add for what a deployment counts in: the whole period and its bucket.
func (t *tally) each(r run, add func(*sum)) {
	add(&t.total)
	i := sort.Search(len(t.period.begins), func(i int) bool { return t.period.begins[i].After(r.createdAt) })
	add(&t.buckets[max(i-1, 0)])
}

// add counts a deployment.
func (t *tally) add(r run) {
	t.each(r, func(s *sum) {
		f := &s.figures
		f.Created++
		if r.trigger == state.TriggerRollback {
			f.Rollbacks++
		}

		switch r.status {
		case "SUCCEEDED":
			f.Succeeded++
			if r.startedAt != nil && r.completedAt != nil {
				s.seconds = append(s.seconds, r.completedAt.Sub(*r.startedAt).Seconds())
			}
		case "FAILED":
			f.Failed++
		case "CANCELED":
			f.Canceled++
		}
	})
}

// addCourse counts what is between the deployments of an instance, which are in the order of their ends: how long it
// was broken, and what was rolled back.
func (t *tally) addCourse(course []run) {
	var restored *run // the next success, which is known because this goes backward
	for i := range slices.Backward(course) {
		r := &course[i]
		switch {
		case r.later:
		case r.status == "FAILED" && restored != nil:
			seconds := restored.completedAt.Sub(*r.completedAt).Seconds()
			t.each(*r, func(s *sum) { s.restores = append(s.restores, seconds) })
		case restored != nil && restored.replaces(*r):
			t.each(*r, func(s *sum) { s.replaced++ })
		}
		if r.ships() {
			restored = r
		}
	}
}

func (t *tally) statistics() *Statistics {
	s := &Statistics{Total: t.total.result(), Buckets: make([]*Figures, len(t.buckets))}
	for i := range t.buckets {
		s.Buckets[i] = t.buckets[i].result()
	}
	return s
}

// result returns the figures with what is computed from all of them.
func (s *sum) result() *Figures {
	f := &s.figures
	if ended := f.Succeeded + f.Failed; ended > 0 {
		f.FailureRate = new(float64(f.Failed+s.replaced) / float64(ended))
	}
	slices.Sort(s.seconds)
	slices.Sort(s.restores)
	f.MedianSeconds, f.MedianRestoreSeconds = median(s.seconds), median(s.restores)
	if n := len(s.seconds); n > 0 {
		f.P95Seconds = &s.seconds[int(math.Ceil(0.95*float64(n)))-1]
	}
	return f
}

// median returns the middle of sorted numbers, between two of them their mean; nil for none.
func median(sorted []float64) *float64 {
	n := len(sorted)
	if n == 0 {
		return nil
	}
	return new((sorted[(n-1)/2] + sorted[n/2]) / 2)
}
