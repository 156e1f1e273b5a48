package execution

import (
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/internal/base/fault"
	"slipway/internal/base/optional"
	"slipway/internal/base/strictjson"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/event"
	"slipway/internal/pure/runlog"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

// MaxReportedEvents is how many events one report may have.
const MaxReportedEvents = 100

// Report is what is new of a RUNNING deployment; nil fields stay.
type Report struct {
	// Sequence counts the reports of a deployment, from 1: one that was taken before is not taken again.
	// nil is always taken.
	Sequence *int32
	// Events are what happened, in order; at most MaxReportedEvents.
	Events []event.Event
	// Logs are lines that its program has printed, in order; at most runlog.MaxReported.
	Logs []runlog.Line
	// Data has the fields of an aws:ecs deployment that changed: an object, or nil.
	Data                 *strictjson.Node
	ExternalDeploymentID *string
	ResourceARN          *string
	ResourceName         *string
	// PipelineRunID and StepExecutionID are said once.
	PipelineRunID, StepExecutionID *string
}

// Report adds to the record of a RUNNING deployment, or to its log, and renews its lease. It fails with
// DeploymentNotFound, DeploymentForbidden, RequestInvalid and DeploymentLeaseLost.
func (s *Service) Report(
	ctx context.Context, deploymentID, leaseID string, in Report,
) (*ent.Deployment, *Lease, error) {
	if in.hasOnlyLogs() {
		return s.reportLogs(ctx, deploymentID, leaseID, in)
	}
	var at time.Time
	reported, err := s.carryOut(ctx, "reportDeployment", access.RunDeployments, deploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			at = e.Shared()
			if err := s.checkRenewable(ctx, tx, d, leaseID, at); err != nil {
				return err
			}
			if violations := in.check(); len(violations) > 0 {
				return fault.Invalid(fault.RequestInvalid, violations...)
			}

			if in.Sequence != nil {
				if *in.Sequence <= d.ReportSequence {
					e.SkipAudit = true
					return nil
				}
				u.SetReportSequence(*in.Sequence)
			}

			u.SetLeaseExpiresAt(at.Add(s.leaseTime()))
			if err := in.apply(d, u, e.At); err != nil {
				return err
			}
			return addLines(ctx, tx, d, u.Mutation(), in.Logs, e.At)
		})
	if err != nil {
		return nil, nil, err
	}

	if len(in.Logs) > 0 {
		s.Feed.LogChanged(deploymentID)
	}
	return reported, s.leaseOf(reported, at), nil
}

// hasOnlyLogs reports whether the report has lines of the log and nothing else. One without a number is not among them:
// it must not be taken twice if the answer to its COMMIT is lost, and by its audit row that is known.
func (in Report) hasOnlyLogs() bool {
	return len(in.Logs) > 0 && in.Sequence != nil && len(in.Events) == 0 && in.Data == nil &&
		in.ExternalDeploymentID == nil && in.ResourceARN == nil && in.ResourceName == nil &&
		in.PipelineRunID == nil && in.StepExecutionID == nil
}

func (in Report) check() []fault.Violation {
	var violations []fault.Violation
	refuse := func(pointer, rule, message string, args ...any) {
		violations = append(violations, fault.Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(message, args...)})
	}
	if in.Sequence != nil && *in.Sequence < 1 {
		refuse("/sequence", "min", "must be at least 1, found %d", *in.Sequence)
	}
	if len(in.Events) > MaxReportedEvents {
		refuse("/events", "max_items", "must have at most %d items, found %d", MaxReportedEvents, len(in.Events))
	}

	for i, e := range in.Events {
		violations = append(violations, e.Check(fmt.Sprintf("/events/%d", i))...)
	}

	if len(in.Logs) > runlog.MaxReported {
		refuse("/logs", "max_items", "must have at most %d items, found %d", runlog.MaxReported, len(in.Logs))
	}

	for i, l := range in.Logs {
		violations = append(violations, l.Check(fmt.Sprintf("/logs/%d", i))...)
	}

	violations = append(violations, textrules.Identifier("/externalDeploymentId", in.ExternalDeploymentID)...)
	violations = append(violations, textrules.Identifier("/resourceArn", in.ResourceARN)...)
	violations = append(violations, state.CheckPipeline(in.PipelineRunID, in.StepExecutionID)...)
	return append(violations, textrules.Identifier("/resourceName", in.ResourceName)...)
}

// apply writes the report into an update of the deployment. The events of an aws:ecs deployment are in
// its data; others have them beside it.
func (in Report) apply(d *ent.Deployment, u *ent.DeploymentUpdateOne, at time.Time) error {
	if in.ExternalDeploymentID != nil {
		u.SetExternalDeploymentID(*in.ExternalDeploymentID).SetExternalIDAdopted(false)
	}
	if violations := append(saidOnce("/pipelineRunId", d.PipelineRunID, in.PipelineRunID),
		saidOnce("/stepExecutionId", d.StepExecutionID, in.StepExecutionID)...); len(violations) > 0 {
		return fault.Invalid(fault.RequestInvalid, violations...)
	}

	u.SetNillablePipelineRunID(in.PipelineRunID).SetNillableStepExecutionID(in.StepExecutionID)
	u.SetNillableResourceArn(in.ResourceARN).SetNillableResourceName(in.ResourceName)
	data, err := d.Data.Data()
	if err != nil {
		return err
	}

	news := withTimes(in.Events, at)
	if data == nil {
		if violations := state.CheckOnlyECS("/data", in.Data, d.DeploymentType); len(violations) > 0 {
			return fault.Invalid(fault.RequestInvalid, violations...)
		}
		if len(news) > 0 {
			events, folded := event.Append(d.Events, d.FoldedEvents, news...)
			u.SetEvents(events).SetFoldedEvents(folded)
		}
		return nil
	}

	if in.Data != nil {
		patch, violations := ecs.DecodePatch(in.Data)
		if len(violations) == 0 {
			violations = data.Unchanged(patch)
		}
		if len(violations) > 0 {
			return fault.Invalid(fault.RequestInvalid, fault.Under("/data", violations)...)
		}
		data.Merge(patch)
		state.SetSetbacks(
			u, d.Setbacks.AfterReport(patch.ServiceDeploymentState, optional.OrZero(data.ServiceDeploymentARN), at),
		)
		news = append(patch.Events, news...)
	}

	if in.Data == nil && len(news) == 0 {
		return nil
	}
	events, folded := event.Append(data.Events, d.FoldedEvents, news...)
	data.Events = events
	state.SetData(u, data).SetFoldedEvents(folded)

	return nil
}

// saidOnce refuses a text if another was said before.
func saidOnce(pointer string, before, now *string) []fault.Violation {
	if before == nil || now == nil || *before == *now {
		return nil
	}
	return []fault.Violation{{Pointer: pointer, Rule: "said_before",
		Message: fmt.Sprintf("must be %.60q as it was said before, found %.60q", *before, *now)}}
}

// withTimes returns the events; those without a time have that of the report.
func withTimes(events []event.Event, at time.Time) []event.Event {
	out := make([]event.Event, len(events))
	for i, e := range events {
		if e.StartedAt == nil {
			e.StartedAt = new(at.UTC().Format(time.RFC3339Nano))
		}
		out[i] = e
	}
	return out
}
