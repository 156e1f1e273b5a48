package gate

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"
	_ "time/tzdata" // the machine may have no time zones of its own

	"slipway/internal/fault"
)

// The bounds of a demand for hours.
const (
	maxSpans = 14
	dayTime  = 24 * 60 // minutes
	weekTime = 7 * dayTime
)

// Hours demands hours of the week, as the clock on the wall of a time zone shows them. No such time is ever turned into a
// moment, so that the nights of summer time are nothing special: an hour that comes twice is open twice.
type Hours struct {
	// TimeZone is a name of the IANA's, such as Europe/Berlin.
	TimeZone string `json:"timeZone"`
	Spans    []Span `json:"spans"`
}

// Span is a part of some days.
type Span struct {
	Days []Weekday `json:"days"`
	// From and To are HH:MM, To being the first minute after it. Where To is before From it is of the next day.
	From string `json:"from"`
	To   string `json:"to"`
}

// Weekday is a day of the week.
type Weekday string

// The days.
const (
	Sunday    Weekday = "SUNDAY"
	Monday    Weekday = "MONDAY"
	Tuesday   Weekday = "TUESDAY"
	Wednesday Weekday = "WEDNESDAY"
	Thursday  Weekday = "THURSDAY"
	Friday    Weekday = "FRIDAY"
	Saturday  Weekday = "SATURDAY"
)

// Weekdays are the days, Sunday first as in package time.
var Weekdays = []Weekday{Sunday, Monday, Tuesday, Wednesday, Thursday, Friday, Saturday}

var zoneForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z][A-Za-z0-9_+-]*){0,2}$`)

// zones has the time zones that were loaded. There are only as many as the IANA names, and no other name is kept.
var zones sync.Map

// zone returns a time zone by its name.
func zone(name string) (*time.Location, error) {
	if loaded, ok := zones.Load(name); ok {
		return loaded.(*time.Location), nil //nolint:forcetypeassert // nothing else is stored
	}
	// A file of the machine's is found by other spellings of a name, too, of which there is no end.
	if name == "Local" || !zoneForm.MatchString(name) {
		return nil, fmt.Errorf("gate: %q is no time zone", name)
	}
	l, err := time.LoadLocation(name)
	if err == nil {
		zones.Store(name, l)
	}
	return l, err
}

// minuteOf returns a minute of the day by its text, which may be 24:00.
func minuteOf(text string) (int, bool) {
	if text == "24:00" {
		return dayTime, true
	}
	at, err := time.Parse("15:04", text)
	return at.Hour()*60 + at.Minute(), err == nil && len(text) == len("15:04")
}

// week is the minutes of a week of which a span consists: [from, to), from Sunday on, to being after the end of the week for
// a span that passes it.
type week struct{ from, to int }

// weeks returns the spans in minutes of the week.
func (h *Hours) weeks() []week {
	var all []week
	for _, s := range h.Spans {
		from, _ := minuteOf(s.From)
		to, _ := minuteOf(s.To)
		if to <= from {
			to += dayTime
		}
		for _, day := range s.Days {
			start := slices.Index(Weekdays, day) * dayTime
			all = append(all, week{start + from, start + to})
		}
	}
	return all
}

// untilOpen returns in how many minutes of the wall's clock a minute of the week is in one of the spans: 0 where it is.
func untilOpen(all []week, minute int) int {
	least := weekTime
	for _, w := range all {
		for _, now := range []int{minute - weekTime, minute, minute + weekTime} { // of the week after, and of one that began before
			switch {
			case now >= w.to:
			case now >= w.from:
				return 0
			default:
				least = min(least, w.from-now)
			}
		}
	}
	return least
}

// opens returns the first moment, not before one, in a span; nil where the time zone is not known. Between two transitions
// of its zone the clock on the wall goes as fast as time does.
func (h *Hours) opens(at time.Time) *time.Time {
	location, err := zone(h.TimeZone)
	if err != nil {
		return nil
	}
	all := h.weeks()
	for now, end := at.In(location), at.AddDate(0, 0, 15); now.Before(end); {
		minute := int(now.Weekday())*dayTime + now.Hour()*60 + now.Minute()
		wait := untilOpen(all, minute)
		if wait == 0 {
			return &now
		}
		next := now.Add(time.Duration(wait)*time.Minute - time.Duration(now.Second())*time.Second - time.Duration(now.Nanosecond()))
		if _, changes := now.ZoneBounds(); !changes.IsZero() && changes.Before(next) {
			next = changes
		}
		now = next
	}
	return nil
}

func (h *Hours) judge(r *Rule, at time.Time) Requirement {
	opens := h.opens(at)
	if opens != nil && opens.Equal(at) {
		return Requirement{Rule: r, Met: true, Message: fmt.Sprintf("Rule %q: it is open.", r.Name)}
	}
	until := ""
	if opens != nil {
		until = ", opens at " + opens.Format(time.RFC3339)
	}
	return Requirement{Rule: r, At: opens, Message: fmt.Sprintf("Rule %q: closed at this time in %s%s.", r.Name, h.TimeZone, until)}
}

func (h *Hours) check(v *fault.Violations, at string) {
	if _, err := zone(h.TimeZone); err != nil {
		v.Add(at+"/timeZone", "time_zone", "must be the name of a time zone of the IANA's, such as Europe/Berlin, found %.60q", h.TimeZone)
	}
	if n := len(h.Spans); n < 1 || n > maxSpans {
		v.Add(at+"/spans", "items", "must have 1 to %d spans, found %d", maxSpans, n)
	}
	for i, s := range h.Spans {
		s.check(v, fmt.Sprintf("%s/spans/%d", at, i))
	}
}

func (s Span) check(v *fault.Violations, at string) {
	if n := len(s.Days); n < 1 || n > len(Weekdays) {
		v.Add(at+"/days", "items", "must name 1 to %d days, found %d", len(Weekdays), n)
	}
	for i, day := range s.Days {
		if !slices.Contains(Weekdays, day) {
			v.Add(fmt.Sprintf("%s/days/%d", at, i), "enum", "must be one of %s, found %.40q", list(Weekdays), string(day))
		}
	}
	checkUnique(v, at+"/days", s.Days)
	from, isTime := minuteOf(s.From)
	if !isTime || from == dayTime {
		v.Add(at+"/from", "time", "must be a time between 00:00 and 23:59, found %.40q", s.From)
	}
	to, isEnd := minuteOf(s.To)
	if !isEnd {
		v.Add(at+"/to", "time", "must be a time between 00:00 and 24:00, found %.40q", s.To)
	}
	if isTime && isEnd && from == to {
		v.Add(at+"/to", "other", "must be another time than from, %s; for the whole day, from 00:00 to 24:00", s.From)
	}
}
