package gate_test

import (
	"slices"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/gate"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func bound(d gate.Demand, operations ...gate.Operation) gate.Rule {
	if operations == nil {
		operations = d.DefaultOperations()
	}
	return gate.Rule{ID: "rule_1", Name: "R", Operations: operations, Demand: d, Overridable: true}
}

// judge returns what rules come to at noon.
func judge(t *testing.T, rules []gate.Rule, f gate.Facts) []gate.Requirement {
	t.Helper()
	list, err := gate.Judge(t.Context(), rules, f, noon)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func demanded(count int32, role actor.Role, by ...string) gate.Demand {
	return gate.Demand{Kind: &gate.Approvals{Count: count, Role: role, Holders: by}}
}

func liveIn(minutes int32) gate.Demand {
	return gate.Demand{Kind: &gate.LiveIn{EnvironmentIDs: []string{"env_staging"}, Minutes: minutes}}
}

func TestADemandIsMetByItsFacts(t *testing.T) {
	t.Parallel()
	dev, admin, ann := gate.Approval{Role: actor.Developer}, gate.Approval{Role: actor.Admin}, gate.Approval{Role: actor.Developer, Holder: "ann"}
	stay := func(minutes int, until *time.Time) *gate.Stay {
		return &gate.Stay{EnvironmentID: "env_staging", From: noon.Add(-time.Duration(minutes) * time.Minute), Until: until}
	}
	frozen := func(from time.Time, until *time.Time) gate.Demand {
		return gate.Demand{Kind: &gate.Freeze{From: from, Until: until}}
	}
	for name, c := range map[string]struct {
		demand gate.Demand
		facts  gate.Facts
		met    bool
	}{
		"no approval":                       {demanded(1, actor.Developer), gate.Facts{}, false},
		"one of two":                        {demanded(2, actor.Developer), gate.Facts{Approvals: []gate.Approval{dev}}, false},
		"two of two":                        {demanded(2, actor.Developer), gate.Facts{Approvals: []gate.Approval{dev, admin}}, true},
		"a developer for an admin":          {demanded(1, actor.Admin), gate.Facts{Approvals: []gate.Approval{dev}}, false},
		"an admin":                          {demanded(1, actor.Admin), gate.Facts{Approvals: []gate.Approval{dev, admin}}, true},
		"another holder":                    {demanded(1, actor.Developer, "bob"), gate.Facts{Approvals: []gate.Approval{ann, admin}}, false},
		"the holder":                        {demanded(1, actor.Developer, "bob", "ann"), gate.Facts{Approvals: []gate.Approval{ann}}, true},
		"before a freeze":                   {frozen(noon.Add(1), nil), gate.Facts{}, true},
		"from its first moment":             {frozen(noon, nil), gate.Facts{}, false},
		"to its last":                       {frozen(noon.Add(-1), new(noon.Add(1))), gate.Facts{}, false},
		"after it":                          {frozen(noon.Add(-1), new(noon)), gate.Facts{}, true},
		"nothing promoted":                  {liveIn(0), gate.Facts{Operation: gate.Create}, false},
		"promoted from elsewhere":           {liveIn(0), gate.Facts{Operation: gate.Promote, Stay: &gate.Stay{EnvironmentID: "env_x", From: noon}}, false},
		"live for a minute less":            {liveIn(30), gate.Facts{Operation: gate.Promote, Stay: stay(29, nil)}, false},
		"live for long enough":              {liveIn(30), gate.Facts{Operation: gate.Promote, Stay: stay(30, nil)}, true},
		"live for long enough long ago":     {liveIn(30), gate.Facts{Operation: gate.Promote, Stay: stay(9000, new(noon.Add(-8970*time.Minute)))}, true},
		"gone too early":                    {liveIn(30), gate.Facts{Operation: gate.Promote, Stay: stay(9000, new(noon.Add(-8971*time.Minute)))}, false},
		"redeployed of what succeeded":      {liveIn(30), gate.Facts{Operation: gate.Redeploy, SucceededHere: true}, true},
		"promoted although it succeeded":    {liveIn(30), gate.Facts{Operation: gate.Promote, SucceededHere: true}, false},
		"redeployed of a promotion that is": {liveIn(30), gate.Facts{Operation: gate.Redeploy, Stay: stay(31, nil)}, true},
	} {
		if c.facts.Operation == "" {
			c.facts.Operation = gate.Create
		}
		got := judge(t, []gate.Rule{bound(c.demand)}, c.facts)
		if len(got) != 1 || got[0].Met != c.met || got[0].Message == "" || got[0].Met && got[0].At != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := judge(t, []gate.Rule{bound(demanded(1, actor.Developer))}, gate.Facts{Operation: gate.Rollback}); got != nil {
		t.Errorf("a rollback, which the rule does not name: %+v", got)
	}
}

func TestOfSeveralUnmetOneDecides(t *testing.T) {
	t.Parallel()
	freeze, approve, live := bound(gate.Demand{Kind: &gate.Freeze{From: noon, Until: new(noon.Add(time.Hour))}}), bound(demanded(1, actor.Developer)), bound(liveIn(0))
	for name, c := range map[string]struct {
		rules []gate.Rule
		waits bool
		code  fault.Code
		start fault.Code
	}{
		"none":    {nil, false, "", ""},
		"frozen":  {[]gate.Rule{freeze}, false, fault.EnvironmentClosed, fault.EnvironmentClosed},
		"waits":   {[]gate.Rule{freeze, approve}, true, "", fault.DeploymentApprovalsMissing},
		"refused": {[]gate.Rule{freeze, approve, live}, false, fault.DeploymentNotPromoted, fault.DeploymentNotPromoted},
	} {
		judged := judge(t, c.rules, gate.Facts{Operation: gate.Create})
		waits, refusal := gate.AtCreation(judged, noon)
		if waits != c.waits || (refusal != nil) != (c.code != "") || c.code != "" && !fault.Is(refusal, c.code) {
			t.Errorf("%s: waits %v, %v", name, waits, refusal)
		}
		if err := gate.AtStart(judged, noon); (err != nil) != (c.start != "") || c.start != "" && !fault.Is(err, c.start) {
			t.Errorf("%s, at the start: %v", name, err)
		}
	}
	over, err := gate.GoPast(judge(t, []gate.Rule{freeze, approve}, gate.Facts{Operation: gate.Create}), &actor.Actor{ID: "tok_1", Name: "boss"}, "the site is down", noon)
	if err != nil || len(over.Requirements) != 2 {
		t.Errorf("%+v, %v", over, err)
	}
	freeze.Overridable = false
	if _, err := gate.GoPast(judge(t, []gate.Rule{freeze, approve}, gate.Facts{Operation: gate.Create}), &actor.Actor{ID: "tok_1", Name: "boss"}, "r", noon); !fault.Is(err, fault.RuleNotOverridable) {
		t.Errorf("%v", err)
	}
}

func TestARuleIsRefusedByItsBounds(t *testing.T) {
	t.Parallel()
	span := func(from, to string, days ...gate.Weekday) gate.Demand {
		return gate.Demand{Kind: &gate.Hours{TimeZone: "Europe/Berlin", Spans: []gate.Span{{Days: days, From: from, To: to}}}}
	}
	zone := func(name string) gate.Demand {
		return gate.Demand{Kind: &gate.Hours{TimeZone: name, Spans: []gate.Span{{Days: gate.Weekdays, From: "00:00", To: "24:00"}}}}
	}
	spans := func(n int) gate.Demand {
		return gate.Demand{Kind: &gate.Hours{TimeZone: "UTC", Spans: slices.Repeat([]gate.Span{{Days: gate.Weekdays, From: "00:00", To: "24:00"}}, n)}}
	}
	environments := func(ids ...string) gate.Demand { return gate.Demand{Kind: &gate.LiveIn{EnvironmentIDs: ids}} }
	for _, c := range []struct {
		demand  gate.Demand
		pointer string // "" for what is taken
	}{
		{gate.Demand{}, "/demand"},
		{demanded(0, actor.Developer), "/demand/approvals/count"}, {demanded(1, actor.Developer), ""}, {demanded(5, actor.Admin), ""}, {demanded(6, actor.Admin), "/demand/approvals/count"},
		{demanded(2, actor.Developer, "ann"), "/demand/approvals/holders"}, {demanded(2, actor.Developer, "ann", "bob"), ""},
		{demanded(1, actor.Viewer), "/demand/approvals/role"}, {demanded(1, actor.Admin, "a", "a"), "/demand/approvals/holders/1"}, {demanded(1, actor.Admin, "a b"), "/demand/approvals/holders/0"},
		{demanded(1, actor.Admin, slices.Repeat([]string{"a"}, 21)...), "/demand/approvals/holders"},
		{zone("Europe/Berlin"), ""}, {zone(""), "/demand/hours/timeZone"}, {zone("Local"), "/demand/hours/timeZone"}, {zone("Mars/Olympus"), "/demand/hours/timeZone"}, {zone("../etc"), "/demand/hours/timeZone"}, {zone("Europe//Berlin"), "/demand/hours/timeZone"}, {zone("America/Argentina/Buenos_Aires"), ""},
		{spans(0), "/demand/hours/spans"}, {spans(14), ""}, {spans(15), "/demand/hours/spans"},
		{span("09:00", "17:00"), "/demand/hours/spans/0/days"}, {span("09:00", "17:00", "FUNDAY"), "/demand/hours/spans/0/days/0"}, {span("09:00", "17:00", gate.Monday, gate.Monday), "/demand/hours/spans/0/days/1"},
		{span("24:00", "01:00", gate.Monday), "/demand/hours/spans/0/from"}, {span("9:00", "17:00", gate.Monday), "/demand/hours/spans/0/from"}, {span("09:00", "24:01", gate.Monday), "/demand/hours/spans/0/to"},
		{span("09:00", "09:00", gate.Monday), "/demand/hours/spans/0/to"}, {span("22:00", "06:00", gate.Monday), ""},
		{gate.Demand{Kind: &gate.Freeze{From: noon, Until: &noon}}, "/demand/freeze/until"}, {gate.Demand{Kind: &gate.Freeze{From: noon, Until: new(noon.Add(1))}}, ""},
		{environments(), "/demand/liveIn/environmentIds"}, {environments("a", "b", "c", "d", "e"), ""}, {environments("a", "b", "c", "d", "e", "f"), "/demand/liveIn/environmentIds"}, {environments("a", "a"), "/demand/liveIn/environmentIds/1"},
		{liveIn(-1), "/demand/liveIn/minutes"}, {liveIn(43_200), ""}, {liveIn(43_201), "/demand/liveIn/minutes"},
	} {
		wrong := c.demand.Check(c.demand.DefaultOperations())
		if c.pointer == "" && len(wrong) > 0 || c.pointer != "" && (len(wrong) == 0 || wrong[0].Pointer != c.pointer) {
			t.Errorf("%+v: %v, want %q", c.demand, wrong, c.pointer)
		}
	}
	for pointer, operations := range map[string][]gate.Operation{
		"/operations": {}, "/operations/0": {"UPGRADE"}, "/operations/1": {gate.Create, gate.Create}, "/operations/2": {gate.Create, gate.Promote, gate.Rollback},
	} {
		if wrong := liveIn(0).Check(operations); len(wrong) != 1 || wrong[0].Pointer != pointer {
			t.Errorf("%v: %v", operations, wrong)
		}
	}
}
