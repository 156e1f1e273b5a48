package waiting

import (
	"context"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/pure/gate"
	"slipway/internal/service/access"
	"slipway/internal/service/dependency"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/state"
)

// refuse sets why an actor cannot start deployments that wait, whatever the rules say. prove returns why the content of
// one's release cannot be had.
func (r waitingReader) refuse(
	ctx context.Context, a *actor.Actor, of map[string]*waiting, prove func(*waiting) error,
) error {
	stands, err := r.standings(ctx, of, prove)
	if err != nil {
		return err
	}
	for id, w := range of {
		switch refusal := checkStartable(a, w.Starts, r.shared); {
		case refusal != nil:
			w.Refusal = refusal
		case w.isSuperseded():
			w.Refusal = lateError(w.Starts, state.SupersededError(w.Live))
		default:
			w.Refusal = stands[id].Refusal(w.mode, r.at)
		}
	}
	return nil
}

// checkStartable returns why an actor may not start a deployment at a time, as far as that does not depend on what it
// ships.
func checkStartable(a *actor.Actor, d *ent.Deployment, at time.Time) error {
	if err := access.CheckIn(
		a, admission.ModeOf(d.TriggerSource).Permission, state.PlaceOf(d), fault.DeploymentForbidden,
	); err != nil {
		return err
	}
	return checkAwaiting(d, at)
}

// standings reads, for deployments that wait, what others may have changed since they were made.
func (r waitingReader) standings(
	ctx context.Context, of map[string]*waiting, prove func(*waiting) error,
) (map[string]admission.Standing, error) {
	promoted, err := r.promotedReputations(ctx, of)
	if err != nil {
		return nil, err
	}
	dependents, err := r.dependents(ctx, of)
	if err != nil {
		return nil, err
	}
	choices, err := r.wrongChoices(ctx, of)
	if err != nil {
		return nil, err
	}

	stands := make(map[string]admission.Standing, len(of))
	for id, w := range of {
		st := w.from.Standing(func() error { return prove(w) })
		st.Dependents, st.Choices = dependents[w.InstanceID], choices[id]
		if w.Operation == gate.Promote && w.Starts.PromotedFrom != nil {
			st.PromotedFrom, st.Promoted = *w.Starts.PromotedFrom, promoted[*w.Starts.PromotedFrom]
		}
		stands[id] = st
	}
	return stands, nil
}

// promotedReputations returns what speaks against what promotions that wait are made of.
func (r waitingReader) promotedReputations(
	ctx context.Context, of map[string]*waiting,
) (map[string]releases.Reputation, error) {
	var sources []string
	for _, w := range of {
		if w.Operation == gate.Promote && w.Starts.PromotedFrom != nil {
			sources = append(sources, *w.Starts.PromotedFrom)
		}
	}
	return r.Releases.Reputations(ctx, r.read, sources)
}

// dependents returns the instances that refer to those that are to be destroyed, unless that was acknowledged.
func (r waitingReader) dependents(ctx context.Context, of map[string]*waiting) (map[string][]string, error) {
	var destroyed []string
	for _, w := range of {
		if w.Operation == gate.Destroy && !w.Starts.AcknowledgesDependents {
			destroyed = append(destroyed, w.InstanceID)
		}
	}
	if len(destroyed) == 0 {
		return nil, nil
	}
	return dependency.Finder{Store: r.Store, Read: r.read}.Of(meter.Without(ctx), destroyed)
}
