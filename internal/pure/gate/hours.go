package gate

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"
	_ "time/tzdata" // the machine may have no time zones of its own

	"slipway/internal/base/fault"
)

// maxSpans bounds a demand for hours.
const maxSpans = 14

// Hours demands hours of the week, as the clock on the wall of a time zone shows them. No such time ever becomes a
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

func (*Hours) name() string            { return "hours" }
func (*Hours) operations() []Operation { return ordinary }
func (*Hours) may() []Operation        { return Operations }

// restrict implements Kind. In an unknown time zone nobody knows.
func (*Hours) restrict(t *timetable, q Requirement) (known bool) {
	if q.hours != nil {
		t.add(q.hours)
	}
	return q.hours != nil
}

// judge notes in the requirement the minutes that it has read, so that nothing else has to read the spans again.
func (h *Hours) judge(r *Rule, _ Facts, at time.Time) Requirement {
	missing := Requirement{Rule: r, Message: fmt.Sprintf("Rule %q: closed at this time in %s.", r.Name, h.TimeZone)}
	location, err := zone(h.TimeZone)
	if err != nil {
		return missing
	}

	hours := &zoneHours{zone: location, open: h.minutes()}
	if hours.open.has(minuteOfWeek(at.In(location))) {
		return Requirement{Rule: r, hours: hours, Met: true, Message: fmt.Sprintf("Rule %q: it is open.", r.Name)}
	}

	missing.hours = hours
	own := timetable{}
	own.add(hours)
	if missing.At = own.opens(at); missing.At != nil {
		missing.Message = fmt.Sprintf("Rule %q: closed at this time in %s, opens at %s.",
			r.Name, h.TimeZone, missing.At.In(location).Format(time.RFC3339))
	}
	return missing
}

func (h *Hours) check(v *fault.Violations, at string) {
	if _, err := zone(h.TimeZone); err != nil {
		v.Add(at+"/timeZone", "time_zone",
			"must be the name of a time zone of the IANA's, such as Europe/Berlin, found %.60q", h.TimeZone)
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
