package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/remote/client"
)

const wantRule = "the name of a rule that is in force, or rule_…"

// rule is a rule as it is shown.
type rule struct {
	ID          string                       `json:"id"`
	Name        string                       `json:"name"`
	Project     *client.ProjectName          `json:"project"`
	Environment *client.EnvironmentPlace     `json:"environment"`
	Operations  []client.DeploymentOperation `json:"operations"`
	Demand      json.RawMessage              `json:"demand"`
	// Demands is the demand in the words of the flags.
	Demands     string       `json:"demands"`
	Overridable bool         `json:"overridable"`
	CreatedBy   client.Actor `json:"createdBy"`
	CreatedAt   time.Time    `json:"createdAt"`
	UpdatedAt   time.Time    `json:"updatedAt"`
	EndedAt     *time.Time   `json:"endedAt"`
	Version     int          `json:"version"`
}

var ruleView = view[rule]{
	columns: []column{
		{"RULE", "name"}, {"DEMANDS", "demands"}, {"PROJECT", "project.slug"},
		{"ENVIRONMENT", "environment.project.slug/environment.slug"},
		{"OPERATIONS", "operations"}, {"OVERRIDABLE", "overridable"}, {"ENDED", "endedAt"}, {"ID", "id"},
	},
	sheet: []column{
		{"rule", "name"}, {"id", "id"}, {"demands", "demands"}, {"project", "project.slug"},
		{"environment", "environment.project.slug/environment.slug"},
		{"operations", "operations"}, {"overridable", "overridable"}, {"created", "createdAt"},
		{"created by", "createdBy.name"},
		{"changed", "updatedAt"}, {"ended", "endedAt"},
	},
	name: func(r *rule) string { return r.ID },
}

func ruleOf(r client.RuleRecord) (*rule, error) {
	words, err := wordsOfDemand(r.Demand)
	return &rule{
		ID: r.Id, Name: r.Name, Project: r.Project, Environment: r.Environment, Operations: r.Operations, Demand: r.Demand,
		Demands:     words,
		Overridable: r.Overridable, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		EndedAt: r.EndedAt, Version: r.Version,
	}, err
}

// heldDemand is the demand of a rule that is in force.
type heldDemand struct {
	Typename     string `json:"__typename"`
	Count        int
	Role         client.Role
	Holders      []string
	TimeZone     string
	Spans        []client.HoursSpanInput
	From         json.RawMessage
	Until        *string
	Environments []client.EnvironmentPlace
	Minutes      int
}

// kind returns the name of the flag that the demand is given by, "" for one that this program does not know.
func (d *heldDemand) kind() string {
	return map[string]string{
		"ApprovalsDemand": "approvals", "HoursDemand": "hours", "FreezeDemand": "freeze", "LiveInDemand": "live-in",
	}[d.Typename]
}

func readDemand(text json.RawMessage) (*heldDemand, error) {
	d := &heldDemand{}
	return d, json.Unmarshal(text, d)
}

// wordsOfDemand returns a demand in the words of the flags.
func wordsOfDemand(text json.RawMessage) (string, error) {
	d, err := readDemand(text)
	if err != nil {
		return "", err
	}

	switch d.Typename {
	case "ApprovalsDemand":
		words := fmt.Sprintf("%s by %s", counted(d.Count, "approval"), strings.ToLower(string(d.Role)))
		if len(d.Holders) > 0 {
			words += " of " + strings.Join(d.Holders, ",")
		}
		return words, nil

	case "HoursDemand":
		var spans []string
		for _, span := range d.Spans {
			spans = append(spans, daysText(span.Days)+" "+span.From+"-"+span.To)
		}
		return d.TimeZone + " " + strings.Join(spans, ", "), nil

	case "FreezeDemand":
		return "freeze " + strings.Trim(string(d.From), `"`) + "/" + textOf(d.Until), nil

	case "LiveInDemand":
		var places []string
		for _, e := range d.Environments {
			places = append(places, e.Project.Slug+"/"+e.Slug)
		}
		return fmt.Sprintf("live in %s for %s", strings.Join(places, ","), counted(d.Minutes, "minute")), nil
	}
	return "what this program does not know: " + d.Typename, nil
}

// daysText writes days as --hours takes them: those that follow each other as mon-fri.
func daysText(days []client.Weekday) string {
	var texts []string
	for i := 0; i < len(days); i++ {
		first := i
		for i+1 < len(days) && slices.Index(client.AllWeekday, days[i+1]) == slices.Index(client.AllWeekday, days[i])+1 {
			i++
		}
		text := dayText(days[first])
		if i > first {
			text += "-" + dayText(days[i])
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ",")
}

func dayText(d client.Weekday) string { return strings.ToLower(string(d))[:3] }

// rulePages reads the rules of a filter.
func (s *session) rulePages(filter *client.RuleFilter) pageOf[rule] {
	return func(ctx context.Context, first *int, after *string) ([]rule, client.PageEnd, error) {
		r, err := client.Rules(ctx, s.conn, filter, first, after)
		if err != nil {
			return nil, client.PageEnd{}, err
		}
		rules := make([]rule, len(r.Rules.Nodes))
		for i, node := range r.Rules.Nodes {
			one, err := ruleOf(node)
			if err != nil {
				return nil, client.PageEnd{}, err
			}
			rules[i] = *one
		}
		return rules, r.Rules.PageInfo, nil
	}
}

// rules returns the rules that a function picks.
func (s *session) rules(ctx context.Context, ended bool, picks func(*rule) bool) (found []*rule, err error) {
	_, err = each(ctx, s.rulePages(&client.RuleFilter{Ended: &ended}), allOf, func(page []rule) (bool, error) {
		for i := range page {
			if picks(&page[i]) {
				found = append(found, &page[i])
			}
		}
		return true, nil
	})
	return found, err
}

// rule returns the rule that a name stands for.
func (s *session) rule(ctx context.Context, ref string) (*rule, error) {
	if id.Of(id.Rule, ref) {
		return s.ruleByID(ctx, ref)
	}
	found, err := s.rules(ctx, false, func(r *rule) bool { return r.Name == ref })
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, noRule(ref)
	case len(found) > 1:
		ids := make([]string, len(found))
		for i, r := range found {
			ids[i] = r.ID
		}
		return nil, refusedf("several rules are called %q: name one by its id, %s", ref, strings.Join(ids, ", "))
	}
	return found[0], nil
}

// ruleByID returns the rule of an id, which may have ended.
func (s *session) ruleByID(ctx context.Context, ruleID string) (*rule, error) {
	r, err := client.Rule(ctx, s.conn, ruleID)
	if isCode(err, fault.RuleNotFound) {
		return nil, noRule(ruleID)
	}
	if err != nil {
		return nil, err
	}
	return ruleOf(*r.Rule)
}

func noRule(ref string) error {
	return refusedf("there is no rule %q that you may see; want %s (%s)", ref, wantRule, fault.RuleNotFound)
}

// ruleNames completes the names of rules that are in force.
func ruleNames(ctx context.Context, s *session, _ string) (names []string, err error) {
	found, err := s.rules(ctx, false, func(*rule) bool { return true })
	for _, r := range found {
		names = append(names, r.Name)
	}
	return names, err
}
