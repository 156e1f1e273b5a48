package gate

import (
	"slices"
	"time"
)

// horizon is how far an opening is looked for, from the first moment at which nothing is frozen.
const horizon = 366 * 24 * time.Hour

// zoneHours are the minutes of the week at which all rules of hours in one time zone are open.
type zoneHours struct {
	zone *time.Location
	open week
	// offset is the zone's distance from UTC in minutes, and until when it next changes; zero for never.
	offset int
	until  time.Time
}

// timetable is what rules of hours and freezes leave open together.
type timetable struct {
	zones  []*zoneHours
	frozen []*Freeze // in the order of their beginnings
}

// Opens returns the first moment, not before one, at which all rules of hours and freezes among some requirements are
// met. It returns nil if there is none within a year of the first moment that is not frozen, or if nobody can tell,
// because the time zone or the demand of a rule is unknown. Each rule is read once, whatever its spans are.
func Opens(all []Requirement, at time.Time) *time.Time {
	t := timetable{}
	for _, r := range all {
		if k := r.Rule.Demand.Kind; k == nil || !k.restrict(&t, r) {
			return nil
		}
	}
	slices.SortFunc(t.frozen, func(a, b *Freeze) int { return a.From.Compare(b.From) })
	return t.opens(at)
}

// add adds a rule of hours: one more of its zone leaves open what both do.
func (t *timetable) add(h *zoneHours) {
	for _, z := range t.zones {
		if z.zone == h.zone {
			z.open.intersect(&h.open)
			return
		}
	}
	t.zones = append(t.zones, &zoneHours{zone: h.zone, open: h.open})
}

// opens returns the first moment, not before one, that is open and not frozen; nil if there is none.
//
// Between two changes of the clocks of any of the zones each week is like the one before, as UTC has it. So it looks at
// one week for each such time, of which there are some dozens a year, and at most once at each freeze.
func (t *timetable) opens(at time.Time) *time.Time {
	now := t.thawed(at)
	if now == nil {
		return nil
	}

	for end := now.Add(horizon); now != nil && now.Before(end); {
		until := t.nextChange(*now, end)
		open := t.weekOfUTC()
		if open.isEmpty() {
			now = t.thawed(until)
			continue
		}

		for now != nil && now.Before(until) {
			next := nextMinute(&open, *now)
			if !next.Before(until) {
				now = &until
				break
			}
			if now = t.thawed(next); now != nil && now.Equal(next) {
				return &next
			}
		}
	}

	return nil
}

// nextMinute returns the first moment, not before one, in a minute of a week of UTC, which must not be empty.
func nextMinute(open *week, at time.Time) time.Time {
	wait := open.wait(minuteOfWeek(at.UTC()))
	if wait == 0 {
		return at
	}
	return at.Truncate(time.Minute).Add(time.Duration(wait) * time.Minute)
}

// nextChange returns when the clock of one of the zones next changes after a moment, or the end if that is before, and
// notes how far each is from UTC until then.
func (t *timetable) nextChange(now, end time.Time) time.Time {
	for _, z := range t.zones {
		if z.until.IsZero() || !now.Before(z.until) {
			wall := now.In(z.zone)
			_, seconds := wall.Zone()
			z.offset = seconds / 60 // no zone has been apart by a part of a minute since 1972
			if _, z.until = wall.ZoneBounds(); z.until.IsZero() {
				z.until = end
			}
		}
		if z.until.Before(end) {
			end = z.until
		}
	}
	return end
}

// weekOfUTC returns the minutes of a week of UTC at which all zones are open.
func (t *timetable) weekOfUTC() week {
	open := everyMinute()
	for _, z := range t.zones {
		own := z.open.rotated((z.offset%weekTime + weekTime) % weekTime)
		if open.intersect(&own); open.isEmpty() {
			break
		}
	}
	return open
}

// thawed returns the first moment, not before one, that is not frozen; nil if there is none.
func (t *timetable) thawed(at time.Time) *time.Time {
	for _, f := range t.frozen {
		if f.From.After(at) {
			break
		}
		opens := f.opens(at)
		if opens == nil {
			return nil
		}
		at = *opens
	}
	return &at
}
