package cli

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

// demandFlags are what the flags say a rule demands.
type demandFlags struct {
	approvals int
	role      client.Role
	by        []string
	hours     []openHours
	freeze    client.FreezeDemandInput
	liveIn    []string
	minutes   int
	changed   func(flag string) bool
}

// openHours are hours of the week in a time zone.
type openHours struct {
	zone string
	span client.HoursSpanInput
}

func (d *demandFlags) flags(c *cobra.Command) {
	fs := c.Flags()
	d.changed = fs.Changed

	setting.AddFlag(fs, &d.approvals, "approvals", "", setting.Between(1, 5),
		"number of people other than the author who must approve")
	roles := []string{"developer", "admin"}
	setting.AddFlag(fs, &d.role, "role", "", roleOf(roles),
		"with --approvals: minimum role of an approver (default of a new rule: developer)")
	completeFlag(c, "role", fixed(roles))
	setting.AddFlag(fs, &d.by, "by", "", holders,
		"with --approvals: holders who may approve, separated by commas; \"anybody\" removes the list")

	setting.AddRepeatableFlag(fs, &d.hours, "hours", "", hours,
		"opening hours, such as \"Europe/Berlin mon-fri 09:00-17:00\"")
	setting.AddFlag(fs, &d.freeze, "freeze", "", freeze,
		"period without deployments, such as 2026-12-20T00:00:00Z/2027-01-04T00:00:00Z; "+
			"without an end if nothing follows the /")
	setting.AddFlag(fs, &d.liveIn, "live-in", "", setting.List,
		"environments, separated by commas; the release must have been live in one of them")
	setting.AddFlag(fs, &d.minutes, "minutes", "", setting.Between(0, 43200),
		"with --live-in: minimum time in minutes")
}

// anybody is the value of --by that names no holder.
const anybody = "anybody"

var holders = setting.Parser[[]string]{Kind: setting.List.Kind, Parse: func(s string) ([]string, error) {
	if s == anybody {
		return nil, nil
	}
	return setting.List.Parse(s)
}}

func roleOf(names []string) setting.Parser[client.Role] {
	choice := setting.Choice(names...)
	return setting.Parser[client.Role]{Kind: choice.Kind, Parse: func(s string) (client.Role, error) {
		name, err := choice.Parse(s)
		return client.Role(strings.ToUpper(name)), err
	}}
}

const hoursKind = `"ZONE DAYS HH:MM-HH:MM"`

var hours = setting.Parser[[]openHours]{Kind: hoursKind, Parse: func(s string) ([]openHours, error) {
	wrong := setting.Unlike(`a time zone, days and hours such as "Europe/Berlin mon-fri 09:00-17:00"`, s)
	parts := strings.Fields(s)
	if len(parts) != 3 {
		return nil, wrong
	}
	from, to, ok := strings.Cut(parts[2], "-")
	days := daysOf(parts[1])
	if !ok || days == nil {
		return nil, wrong
	}
	return []openHours{{parts[0], client.HoursSpanInput{Days: days, From: from, To: to}}}, nil
}}

var dayRange = regexp.MustCompile(`^[a-z]{3}(-[a-z]{3})?$`)

// daysOf reads days such as mon-fri,sun, nil if these are none.
func daysOf(text string) (days []client.Weekday) {
	place := func(day string) int {
		return slices.IndexFunc(client.AllWeekday, func(d client.Weekday) bool { return dayText(d) == day })
	}

	for part := range strings.SplitSeq(strings.ToLower(text), ",") {
		if !dayRange.MatchString(part) {
			return nil
		}

		first, last, ranges := strings.Cut(part, "-")
		from, to := place(first), place(first)
		if ranges {
			to = place(last)
		}
		if from < 0 || to < 0 {
			return nil
		}

		for i := from; ; i = (i + 1) % len(client.AllWeekday) { // fri-mon goes over the weekend
			days = append(days, client.AllWeekday[i])
			if i == to {
				break
			}
		}
	}
	return days
}

var freeze = setting.Parser[client.FreezeDemandInput]{Kind: "FROM/UNTIL", Parse: func(
	s string,
) (f client.FreezeDemandInput, err error) {
	from, until, ok := strings.Cut(s, "/")
	if f.From, err = moment.Parse(from); !ok || err != nil {
		return f, setting.Unlike("two times with a / between, such as 2026-12-20T00:00:00Z/2027-01-04T00:00:00Z", s)
	}
	if until != "" {
		var end time.Time
		if end, err = moment.Parse(until); err != nil {
			return f, setting.Unlike("two times with a / between, such as 2026-12-20T00:00:00Z/2027-01-04T00:00:00Z", s)
		}
		f.Until = &end
	}
	return f, nil
}}

const oneDemand = "--approvals, --hours, --freeze or --live-in"

// demand returns what the flags demand, nil if no flag says so. What they do not name of the demand in force stays, if
// they are about the same kind; held is nil for a new rule.
func (d *demandFlags) demand(ctx context.Context, s *session, held *heldDemand) (*client.RuleDemandInput, error) {
	kind, err := d.kind(held)
	if err != nil || kind == "" {
		return nil, err
	}
	if held == nil || held.kind() != kind {
		held = &heldDemand{}
	}
	switch kind {
	case "approvals":
		return &client.RuleDemandInput{Approvals: d.approvalsOver(held)}, nil
	case "hours":
		in, err := d.weekHours()
		return &client.RuleDemandInput{Hours: in}, err
	case "freeze":
		return &client.RuleDemandInput{Freeze: &d.freeze}, nil
	}
	in, err := d.liveInOver(ctx, s, held)
	return &client.RuleDemandInput{LiveIn: in}, err
}

// changesDemand reports whether a flag is about the demand.
func (d *demandFlags) changesDemand() bool {
	return slices.ContainsFunc([]string{"approvals", "role", "by", "hours", "freeze", "live-in", "minutes"}, d.changed)
}

// parts are the flags of a part of a demand, and of which kind that is.
var parts = [][2]string{{"role", "approvals"}, {"by", "approvals"}, {"minutes", "live-in"}}

// kind returns which demand the flags are about, by the name of its flag; "" for none.
func (d *demandFlags) kind(held *heldDemand) (string, error) {
	var found []string
	for _, flag := range []string{"approvals", "hours", "freeze", "live-in"} {
		if d.changed(flag) {
			found = append(found, flag)
		}
	}

	if len(found) > 1 {
		return "", setting.Usagef("want one of %s, found --%s", oneDemand, strings.Join(found, " and --"))
	}

	kind := strings.Join(found, "")
	for _, part := range parts {
		if !d.changed(part[0]) {
			continue
		}
		if kind == "" && held != nil && held.kind() == part[1] {
			kind = part[1]
		}
		if kind != part[1] {
			return "", setting.Usagef("--%s: want it with --%s, found none", part[0], part[1])
		}
	}
	return kind, nil
}

func (d *demandFlags) approvalsOver(held *heldDemand) *client.ApprovalsDemandInput {
	in := &client.ApprovalsDemandInput{Count: held.Count, Holders: held.Holders}
	if held.Role != "" {
		in.Role = &held.Role
	}
	if d.changed("approvals") {
		in.Count = d.approvals
	}
	if d.changed("role") {
		in.Role = &d.role
	}
	if d.changed("by") {
		in.Holders = d.by
	}
	return in
}

func (d *demandFlags) weekHours() (*client.HoursDemandInput, error) {
	in := &client.HoursDemandInput{TimeZone: d.hours[0].zone}
	for _, h := range d.hours {
		if h.zone != in.TimeZone {
			return nil, setting.Usagef("--hours: want one time zone, found %s and %s", in.TimeZone, h.zone)
		}
		in.Spans = append(in.Spans, h.span)
	}
	return in, nil
}

func (d *demandFlags) liveInOver(ctx context.Context, s *session, held *heldDemand) (*client.LiveInDemandInput, error) {
	in := &client.LiveInDemandInput{Minutes: &held.Minutes}
	if d.changed("minutes") {
		in.Minutes = &d.minutes
	}
	for _, e := range held.Environments {
		in.EnvironmentIds = append(in.EnvironmentIds, e.Id)
	}

	if !d.changed("live-in") {
		return in, nil
	}

	in.EnvironmentIds = nil
	for _, ref := range d.liveIn {
		e, err := s.environment(ctx, ref)
		if err != nil {
			return nil, err
		}
		in.EnvironmentIds = append(in.EnvironmentIds, e.Id)
	}
	return in, nil
}
