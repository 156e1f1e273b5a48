package waiting

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/pure/gate"
	"slipway/internal/service/deployment/runners"
	"slipway/internal/service/deployment/state"
)

// Kind is the kind of a reason to wait.
type Kind string

// The kinds of reasons.
const (
	ForApprovals  Kind = "APPROVALS"
	ForRule       Kind = "RULE"
	ForDeployment Kind = "DEPLOYMENT"
	ForStart      Kind = "START"
	RunnerMissing Kind = "RUNNER_MISSING"
	RunnersBusy   Kind = "RUNNERS_BUSY"
	ForClaim      Kind = "CLAIM"
	ForProgramEnd Kind = "PROGRAM_END"
)

// Reason is something that a deployment waits for.
type Reason struct {
	Kind Kind
	// Message says it in a sentence, and what to do next.
	Message string
	// Until is when the wait ends by time alone, nil if that is not known.
	Until *time.Time
	// Requirement is the unmet one, nil for other kinds.
	Requirement *gate.Requirement
	// DeploymentID is the deployment in the way, nil for other kinds.
	DeploymentID *string
}

// ReasonsOf returns what each of the deployments waits for, by their ids: to be started, to be claimed, or for the end
// of its program once that was asked to stop. Whatever runs or has ended waits for nothing. What the rules come to is
// what RequirementsOf says. The runners are read once, whatever the number of deployments.
func (s *Service) ReasonsOf(ctx context.Context, ids []string) (map[string][]Reason, error) {
	r, list, waits, err := s.findWaiting(ctx, ids)
	if err != nil {
		return nil, err
	}

	var known []*runners.Runner
	if slices.ContainsFunc(list, func(d *ent.Deployment) bool { return d.Status == deployment.StatusPENDING }) {
		if known, err = s.Runners.Known(ctx, r.shared); err != nil {
			return nil, err
		}
	}

	of := make(map[string][]Reason, len(list))
	for _, d := range list {
		switch w := waits[d.ID]; {
		case w != nil:
			if err := w.Require(ctx, r.shared); err != nil {
				return nil, err
			}
			of[d.ID] = w.reasons()
		case d.Status == deployment.StatusPENDING:
			of[d.ID] = []Reason{untilClaimed(d, known, r.shared)}
		case d.Status == deployment.StatusRUNNING && d.CancelRequestedAt != nil:
			of[d.ID] = []Reason{s.untilEnded(d)}
		}
	}
	return of, nil
}

// reasons returns why a deployment has not been started that waits for approvals: the rules that are not met, and what
// else is active in its instance.
func (w *waiting) reasons() []Reason {
	var all []Reason
	for _, q := range gate.Unmet(w.Requirements) {
		kind, next := ForRule, " Start it when the rule is met."
		if q.Needed != nil {
			kind, next = ForApprovals, " Ask for more approvals, then start it."
		}
		all = append(all, Reason{Kind: kind, Message: q.Message + next, Until: q.At, Requirement: &q})
	}

	if w.Active != nil {
		all = append(all, Reason{Kind: ForDeployment, DeploymentID: &w.Active.ID, Message: fmt.Sprintf(
			"The deployment %s of the instance is %s. Start this one when that has ended.", w.Active.ID, w.Active.Status)})
	}
	if len(all) == 0 {
		all = append(all, Reason{Kind: ForStart, Message: fmt.Sprintf(
			"All rules are met. Start it before %s, when it expires.", w.Starts.WaitsUntil.UTC().Format(time.RFC3339))})
	}
	return all
}

// untilClaimed returns why nobody has claimed a PENDING deployment yet, by the runners that are known at a time.
func untilClaimed(d *ent.Deployment, known []*runners.Runner, at time.Time) Reason {
	run := runners.Ability{DeploymentType: d.DeploymentType, Action: state.ActionOf(d.TriggerSource)}
	var elsewhere, busy, free []string
	for _, r := range known {
		switch {
		case !r.Can(run):
		case !r.MayRunIn(state.PlaceOf(d), at):
			elsewhere = append(elsewhere, r.Name())
		case r.IsBusy(run, at):
			busy = append(busy, r.Name())
		default:
			free = append(free, r.Name())
		}
	}

	switch {
	case len(free) > 0:
		return Reason{Kind: ForClaim, Message: fmt.Sprintf(
			"A runner is available and claims it within a minute, one of: %s.", named(free))}
	case len(busy) > 0:
		return Reason{Kind: RunnersBusy, Message: fmt.Sprintf(
			"All runners that could run it are busy: %s. It is claimed when one is free; start another, or let one run more "+
				"at once with --parallel.", named(busy))}
	}
	return Reason{Kind: RunnerMissing, Message: missing(run, elsewhere)}
}

// missing says that no runner is known that has an ability in a place; those named have it elsewhere.
func missing(run runners.Ability, elsewhere []string) string {
	command := "slipway runner --deployment-types " + run.DeploymentType
	if run.Action == state.DestroyAction {
		command += " --destroy"
	}
	text := fmt.Sprintf("No runner has asked for work of the type %s and the action %s in this environment for 10 "+
		"minutes. Start one: `%s`.", run.DeploymentType, run.Action, command)
	if len(elsewhere) > 0 {
		text += " These may not run deployments here: " + named(elsewhere) + "."
	}
	return text
}

// untilEnded returns that a deployment waits for the end of its program, which was asked to stop.
func (s *Service) untilEnded(d *ent.Deployment) Reason {
	until := s.KillTime(d).UTC()
	return Reason{Kind: ForProgramEnd, Until: &until, Message: fmt.Sprintf(
		"Its cancellation was requested by %s, and its program has until %s to end. An admin can cancel it by force.",
		*d.CancelRequestedBy, until.Format(time.RFC3339))}
}

// maxNamed is how many runners a reason names.
const maxNamed = 5

// named lists names, and how many more there are.
func named(list []string) string {
	if more := len(list) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNamed], ", "), more)
	}
	return strings.Join(list, ", ")
}
