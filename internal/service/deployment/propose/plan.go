package propose

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/optional"
	"slipway/internal/data/journal"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/release"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/admission"
)

// Plan is what a mutation would do now.
type Plan struct {
	// Status is that which the deployment would have, nil if it would be refused.
	Status *deployment.Status
	// Refusal is why it would be refused, nil if it would not.
	Refusal *fault.Error
	// Requirements are what the rules come to.
	Requirements []gate.Requirement
	// Warnings are what the caller should see to.
	Warnings []inputprop.Warning
	// Inputs are what would be shipped, nil if that is not known.
	Inputs json.RawMessage
	// LiveID is the instance's live deployment, nil for none.
	LiveID *string
	// InputChanges and ArtifactChanges are against what that ships, and SourceChanges, of a promotion, against its source.
	InputChanges, ArtifactChanges, SourceChanges []release.Change
	// Token is what the mutation takes as ExpectedPlan, nil if it would be refused.
	Token *string
}

// PlanCreate returns what Create would do.
func (s *Service) PlanCreate(ctx context.Context, in New) (*Plan, error) {
	return s.plan(ctx, s.creation(in))
}

// PlanPromote returns what Promote would do.
func (s *Service) PlanPromote(ctx context.Context, in Promotion) (*Plan, error) {
	return s.plan(ctx, s.creation(in))
}

// PlanRollback returns what Rollback would do.
func (s *Service) PlanRollback(ctx context.Context, in Replay) (*Plan, error) {
	return s.plan(ctx, s.replay(admission.Rollback, in))
}

// PlanRedeploy returns what Redeploy would do.
func (s *Service) PlanRedeploy(ctx context.Context, in Replay) (*Plan, error) {
	return s.plan(ctx, s.replay(admission.Redeploy, in))
}

// PlanDestroy returns what Destroy would do.
func (s *Service) PlanDestroy(ctx context.Context, in Destroy) (*Plan, error) {
	return s.plan(ctx, s.destruction(in))
}

// plan reads what an intent comes to in a transaction that only reads, and judges it as the mutation does. What is not
// there is an error; any other refusal is part of the plan.
func (s *Service) plan(ctx context.Context, in intent) (*Plan, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	in.ExpectedPlan = nil

	var p *admission.Proposal
	var promoted *ent.Deployment
	refusal := journal.RetryWhileChanged(ctx, func(ctx context.Context) (err error) {
		p = nil
		propose, from, err := in.prepare(ctx, true)
		if promoted = from; err != nil {
			return err
		}
		return s.Store.ReadTx(ctx, func(ctx context.Context, tx *ent.Tx, clock func() time.Time) (err error) {
			if p, err = propose(ctx, tx, s.Journal.Now()); err != nil {
				return err
			}
			return s.Admission.Admit(ctx, p, in.Request, s.Journal.Shared(clock()))
		})
	})

	plan := &Plan{}
	if refusal != nil {
		answer, isAnswer := errors.AsType[*fault.Error](refusal)
		if !isAnswer || answer.Status() >= http.StatusInternalServerError || answer.Status() == http.StatusNotFound ||
			answer.Status() == http.StatusUnauthorized {
			return nil, refusal
		}
		plan.Refusal = answer
	}
	if p == nil {
		return plan, nil
	}
	return plan, s.show(ctx, plan, p, promoted)
}

// show completes a plan by its proposal.
func (s *Service) show(ctx context.Context, plan *Plan, p *admission.Proposal, promoted *ent.Deployment) error {
	plan.Warnings, plan.LiveID = p.Warnings, optional.NonZero(p.Live)
	if p.Requirements == nil && p.Facts.Operation != "" {
		if err := p.Require(ctx, s.Journal.Now()); err != nil {
			return err
		}
	}

	plan.Requirements = p.Requirements
	if plan.Refusal == nil {
		token, err := p.Token()
		if err != nil {
			return err
		}
		plan.Status, plan.Token = &p.Created.Status, &token
	}

	if p.Content == "" {
		return nil
	}
	if err := meter.Decode(ctx, meter.Stored, p.Content); err != nil {
		return err
	}
	shipped, err := release.Open(p.Digest, p.Content)
	if errors.Is(err, release.ErrDigestMismatch) {
		return nil // which is the refusal
	}
	if err != nil {
		return err
	}

	plan.Inputs = shipped.Inputs
	if plan.InputChanges, plan.ArtifactChanges, err = s.Releases.ChangesFrom(ctx, plan.LiveID, shipped); err != nil ||
		promoted == nil {
		return err
	}

	plan.SourceChanges, _, err = s.Releases.ChangesFrom(ctx, &promoted.ID, shipped)
	return err
}
