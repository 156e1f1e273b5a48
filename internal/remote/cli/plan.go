package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/remote/client"
)

// plan is what a deployment would change, as the server judges it now.
type plan struct {
	// Instance is the path of the instance, and Creates whether it is still to be made.
	Instance string `json:"instance"`
	Creates  bool   `json:"creates"`
	// Source is the deployment that is replayed or promoted, nil for none.
	Source *string `json:"source"`
	// LiveDeployment is what is live, FromVersion its version, and ToVersion the one that would be deployed.
	LiveDeployment *string `json:"liveDeployment"`
	Module         string  `json:"module"`
	FromVersion    *string `json:"fromVersion"`
	ToVersion      string  `json:"toVersion"`
	// Status is what the deployment would have, nil if it would be refused or nobody knows, Refusal why it would be,
	// and Violations what of the request.
	Status       *client.DeploymentStatus   `json:"status"`
	Refusal      *client.DeploymentFailure  `json:"refusal"`
	Violations   []client.ViolationRecord   `json:"violations"`
	Requirements []client.RequirementRecord `json:"requirements"`
	// Inputs and Artifact are the leaves that would differ from what is live, SourceInputs from what is promoted.
	Inputs       []client.ChangeRecord  `json:"inputs"`
	Artifact     []client.ChangeRecord  `json:"artifact"`
	SourceInputs []client.ChangeRecord  `json:"sourceInputs"`
	Warnings     []client.WarningRecord `json:"warnings"`

	// differences are the leaves that would differ from what is live, for people.
	differences []difference
	live        *client.PlannedLive
	// destroys says that what is live would be destroyed.
	destroys bool
	// refused is the refusal whole.
	refused *fault.Data
	// token is for the mutation: it is refused if it would do another thing by then; nil is not checked.
	token *string
}

var planView = view[plan]{
	columns: []column{
		{"INSTANCE", "instance"}, {"MODULE", "module"}, {"FROM", "fromVersion"}, {"TO", "toVersion"}, {"STATUS", "status"},
	},
	name: func(p *plan) string { return p.Instance },
}

// newPlan returns a plan of which nothing is known but the instance.
func newPlan(instance string) *plan {
	return &plan{
		Instance: instance, Violations: []client.ViolationRecord{}, Requirements: []client.RequirementRecord{},
		Warnings: []client.WarningRecord{},
		Inputs:   []client.ChangeRecord{}, Artifact: []client.ChangeRecord{}, SourceInputs: []client.ChangeRecord{},
	}
}

// ask fills in what the server says that a mutation would do.
func (p *plan) ask(
	ctx context.Context, s *session, in client.DeploymentPlanInput,
) (*client.DeploymentPlanRecord, error) {
	r, err := client.PlanDeployment(ctx, s.conn, in)
	if err != nil {
		return nil, err
	}

	planned := &r.DeploymentPlan
	p.Status, p.refused, p.Requirements, p.token = planned.Status, planned.Refusal, planned.Requirements, planned.Token
	p.Inputs, p.Artifact, p.SourceInputs = planned.InputChanges, planned.ArtifactChanges, planned.SourceChanges
	p.Warnings = inValues(planned.Warnings)

	if p.refused != nil {
		p.Refusal = &client.DeploymentFailure{
			Code: p.refused.Code, Message: p.refused.Message, Description: orNil(p.refused.Description),
		}
	}
	if planned.LiveDeployment != nil { // which is not told to who may not deploy
		p.live, p.LiveDeployment = planned.LiveDeployment, &planned.LiveDeployment.Id
		if p.live.Release != nil {
			p.FromVersion = &p.live.Release.ModuleVersion.Version
		}
	}

	p.Violations = planned.Violations
	for _, c := range p.Inputs {
		p.differences = append(p.differences, differenceOf("", c))
	}
	for _, c := range p.Artifact {
		p.differences = append(p.differences, differenceOf("artifact:", c))
	}
	return planned, nil
}

// versions tells in markdown which version takes the place of which.
func (p *plan) versions() string {
	switch {
	case p.FromVersion == nil:
		return fmt.Sprintf("%s, %s for the first time", code(p.Module), code(p.ToVersion))
	case *p.FromVersion == p.ToVersion:
		return fmt.Sprintf("%s, still %s", code(p.Module), code(p.ToVersion))
	}
	return fmt.Sprintf("%s, from %s to %s", code(p.Module), code(*p.FromVersion), code(p.ToVersion))
}

// lines tell of a plan what it comes to, for people.
func (p *plan) lines(s *session) []string {
	head := p.Instance + gap + p.Module + " "
	if p.FromVersion != nil && *p.FromVersion != p.ToVersion {
		head += *p.FromVersion + " -> "
	}
	head += p.ToVersion + gap
	if p.Source != nil {
		head += "of " + *p.Source + gap
	}

	switch {
	case p.Creates:
		head += "a new instance"
	case p.live != nil:
		head += "live: " + s.when(p.live.CompletedAt) + "by " + p.live.CreatedBy.Name
	case p.Refusal == nil: // otherwise nobody knows
		head += "nothing is live"
	}

	lines := []string{strings.TrimRight(head, " ")}
	switch {
	case p.destroys:
		lines = append(lines, "destroys what is live")
	case p.Refusal == nil || len(p.differences) > 0:
		lines = append(lines, linesOfDifferences(p.differences)...)
	}

	if len(p.SourceInputs) > 0 {
		lines = append(lines, "differences from the promoted release:")
		differences := make([]difference, len(p.SourceInputs))
		for i, c := range p.SourceInputs {
			differences[i] = differenceOf("", c)
		}
		lines = append(lines, linesOfDifferences(differences)...)
	}

	return append(lines, p.remarks()...)
}

// remarks tell of a plan what is to be seen to, what is demanded, and what would come of it.
func (p *plan) remarks() (lines []string) {
	for _, w := range p.Warnings {
		if w.Rule != awaitsApproval {
			lines = append(lines, warningLine(w))
		}
	}
	lines = append(lines, linesOfRequirements(p.Requirements)...)
	switch {
	case p.Refusal != nil:
		lines = append(lines, fmt.Sprintf("it would be refused: %s (%s)", p.Refusal.Message, p.Refusal.Code))
		for _, section := range p.refused.Details {
			lines = append(lines, section.Items...)
		}
	case p.Status != nil && *p.Status == client.DeploymentStatusAwaitingApproval:
		lines = append(lines, "it would wait for approvals")
	}
	return lines
}

// awaitsApproval is the warning of a deployment that waits for approvals. People see the unmet requirements instead.
const awaitsApproval = "awaits_approval"

func warningLine(w client.WarningRecord) string {
	return "warning: " + strings.TrimPrefix(w.Pointer+" ", " ") + w.Message
}

// noteWarnings tells of the warnings of an answer.
func (s *session) noteWarnings(warnings []client.WarningRecord) {
	for _, w := range inValues(warnings) {
		s.note("%s", warningLine(w))
	}
}

// inValues returns warnings of an answer with their places in the values; those of the instance have none.
func inValues(warnings []client.WarningRecord) []client.WarningRecord {
	for i := range warnings {
		_, place, found := strings.Cut(warnings[i].Pointer, "/inputs/")
		if warnings[i].Pointer = ""; found {
			warnings[i].Pointer = "/" + place
		}
	}
	return warnings
}

// when returns a moment as people read it on standard error, with a blank after it; nothing for none.
func (s *session) when(at *time.Time) string {
	switch {
	case at == nil:
		return ""
	case s.asks:
		return age(*at, s.config.Now(), true) + " "
	}
	return at.UTC().Format(time.RFC3339) + " "
}

// linesOfDifferences returns differences one below the other.
func linesOfDifferences(all []difference) (lines []string) {
	if len(all) == 0 {
		return []string{"no change to the live deployment"}
	}

	var where, values int
	texts := make([]string, len(all))

	for i, d := range all {
		switch d.Sign {
		case "~":
			texts[i] = d.Before + " -> " + d.After
		default:
			texts[i] = cmp.Or(d.Before, d.After)
		}
		if d.Before == "" && d.After == "" {
			texts[i] = ""
		}
		where, values = max(where, widthOf(d.Where)), max(values, widthOf(texts[i]))
	}
	for i, d := range all {
		line := d.Sign + " " + pad(d.Where, where) + gap + texts[i]
		if d.Note != "" {
			line = d.Sign + " " + pad(d.Where, where) + gap + pad(texts[i], values) + gap + d.Note
		}
		lines = append(lines, line)
	}
	return lines
}

// show writes a plan as the result.
func (p *plan) show(s *session) error {
	switch {
	case s.out.format == formatMarkdown:
		_, _ = fmt.Fprintf(s.out.to, "%s: %s\n\n", code(p.Instance), p.versions())
		if err := s.out.markdown(p.differences); err != nil {
			return err
		}
		for i, line := range p.remarks() {
			_, _ = fmt.Fprintf(s.out.to, "%s- %s\n", map[bool]string{true: "\n"}[i == 0], code(line))
		}
		return s.out.to.Flush()
	case len(s.out.fields) > 0, s.out.format == formatJSON, s.out.format == formatYAML, s.out.format == formatName:
		return show(s, planView, p)
	case s.out.format == formatTSV:
		return showAll(s, differenceView, p.differences)
	}

	for _, line := range p.lines(s) {
		_, _ = fmt.Fprintln(s.out.to, safe(line))
	}
	return s.out.to.Flush()
}
