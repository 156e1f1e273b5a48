package propose

import (
	"context"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/journal"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/admission"
)

// intent is what a request for a deployment comes to: how it is proposed, whether it is planned or made then, and how
// it is written.
type intent struct {
	admission.Request
	action, deploymentID string
	// forbidden is the code for those who may not read.
	forbidden fault.Code
	// lock lets a transaction create, or keeps others from creating meanwhile.
	lock func(context.Context) context.Context
	// arguments are all that decides what is made.
	arguments func() []any
	// prepare returns how it is proposed, and what it promotes, nil for nothing. planned is whether it is not made.
	prepare func(ctx context.Context, planned bool) (proposeFunc, *ent.Deployment, error)
}

// proposeFunc reads a proposal at a time, in a transaction in which it writes nothing. It returns the proposal with an
// error too, as far as it is known.
type proposeFunc func(ctx context.Context, tx *ent.Tx, at time.Time) (*admission.Proposal, error)

// make carries out an intent, unless the same request has been carried out before, and again if others have changed
// meanwhile what it goes by. It returns what the caller should see to besides; nothing for a repeat under a key.
func (s *Service) make(ctx context.Context, in intent) (*ent.Deployment, []inputprop.Warning, error) {
	if err := access.Check(actor.From(ctx), access.Read, in.forbidden); err != nil {
		return nil, nil, err
	}
	r, err := s.newKeyed(in.IdempotencyKey, in.action, in.arguments)
	if err != nil {
		return nil, nil, err
	}

	var made *ent.Deployment
	err = journal.RetryWhileChanged(ctx, func(ctx context.Context) (err error) {
		// The same request may have been valid when it was first made and not be valid any more.
		if made, err = s.earlierResult(ctx, r); made != nil || err != nil {
			return err
		}
		propose, _, err := in.prepare(ctx, false)
		if err == nil {
			made, err = s.create(ctx, in, r, propose)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return made, r.warnings, nil
}
