package figures

import (
	"time"

	"slipway/internal/base/fault"
)

// Unit is how long a bucket is, in UTC.
type Unit string

// The units.
const (
	Day Unit = "DAY"
	// Week is seven days from a Monday on.
	Week  Unit = "WEEK"
	Month Unit = "MONTH"
)

// maxBuckets is how many buckets a period may have.
const maxBuckets = 400

// Period is a time in buckets, which fill it without gaps: the first begins with it and the last ends with it.
type Period struct {
	// begins are the first moments of the buckets, before is the first moment after the last.
	begins []time.Time
	before time.Time
	// open is whether the period reaches until now, so that nothing has come after it.
	open bool
}

// NewPeriod returns the period from one time until before another one, until now if that is nil. It fails with
// RequestInvalid if the period is empty or has too many buckets.
func NewPeriod(from time.Time, before *time.Time, by Unit, now time.Time) (Period, error) {
	p := Period{before: storable(now), open: true}
	end := "now"
	if before != nil {
		p.before, p.open, end = storable(*before), !before.Before(now), "before"
	}

	from = storable(from)
	if !from.Before(p.before) {
		return p, fault.New(
			fault.RequestInvalid, "from must be earlier than %s, which is %s, found %s.", end, p.before.Format(time.RFC3339),
			from.Format(time.RFC3339),
		)
	}

	for at := from; at.Before(p.before); at = by.next(at) {
		if len(p.begins) == maxBuckets {
			return p, fault.New(
				fault.RequestInvalid, "From %s to %s are more than %d buckets by %s; ask for a shorter period or longer buckets.",
				from.Format(time.RFC3339), p.before.Format(time.RFC3339), maxBuckets, by,
			)
		}
		p.begins = append(p.begins, at)
	}
	return p, nil
}

// next returns the first moment of the next bucket.
func (u Unit) next(at time.Time) time.Time {
	year, month, day := at.Date()
	switch u {
	case Month:
		return time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
	case Week:
		sinceMonday := (int(at.Weekday()) + 6) % 7
		return time.Date(year, month, day-sinceMonday+7, 0, 0, 0, 0, time.UTC)
	case Day:
	}
	return time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
}

// storable returns the first time at or after one that can be stored, which is in microseconds.
func storable(at time.Time) time.Time {
	at = at.UTC()
	if whole := at.Truncate(time.Microsecond); whole.Before(at) {
		return whole.Add(time.Microsecond)
	}
	return at
}
