package deployment

import (
	"context"
	"time"

	"slipway/ent"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/dependency"
	"slipway/internal/fault"
	"slipway/internal/gate"
	"slipway/internal/meter"
)

// refuse sets why an actor cannot start deployments that wait, whatever the rules say. prove returns why the content of one's
// release cannot be had.
func (r waitingReader) refuse(ctx context.Context, a *actor.Actor, of map[string]*waiting, prove func(*waiting) error) error {
	stands, err := r.standings(ctx, of, prove)
	if err != nil {
		return err
	}
	for id, w := range of {
		switch refusal := checkStartable(a, w.starts, r.shared); {
		case refusal != nil:
			w.refusal = refusal
		case w.isSuperseded():
			w.refusal = lateError(w.starts, supersededError(w.live))
		default:
			w.refusal = stands[id].refusal(w.mode, r.at)
		}
	}
	return nil
}

// checkStartable returns why an actor may not start a deployment at a time, as far as that does not depend on what it ships.
func checkStartable(a *actor.Actor, d *ent.Deployment, at time.Time) error {
	if err := access.CheckIn(a, operationOf(d.TriggerSource).permission, placeOf(d), fault.DeploymentForbidden); err != nil {
		return err
	}
	return checkAwaiting(d, at)
}

// standings reads, for deployments that wait, what others may have changed since they were made.
func (r waitingReader) standings(ctx context.Context, of map[string]*waiting, prove func(*waiting) error) (map[string]standing, error) {
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

	stands := make(map[string]standing, len(of))
	for id, w := range of {
		st := w.from.standing(func() error { return prove(w) })
		st.dependents, st.choices = dependents[w.instanceID], choices[id]
		if w.operation == gate.Promote && w.starts.PromotedFrom != nil {
			st.promotedFrom, st.promoted = *w.starts.PromotedFrom, promoted[*w.starts.PromotedFrom]
		}
		stands[id] = st
	}
	return stands, nil
}

// promotedReputations returns what speaks against what promotions that wait are made of.
func (r waitingReader) promotedReputations(ctx context.Context, of map[string]*waiting) (map[string]reputation, error) {
	var sources []string
	for _, w := range of {
		if w.operation == gate.Promote && w.starts.PromotedFrom != nil {
			sources = append(sources, *w.starts.PromotedFrom)
		}
	}
	return r.reputations(ctx, r.read, sources)
}

// dependents returns the instances that refer to those that are to be destroyed, unless that was acknowledged.
func (r waitingReader) dependents(ctx context.Context, of map[string]*waiting) (map[string][]string, error) {
	var destroyed []string
	for _, w := range of {
		if w.operation == gate.Destroy && !w.starts.AcknowledgesDependents {
			destroyed = append(destroyed, w.instanceID)
		}
	}
	if len(destroyed) == 0 {
		return nil, nil
	}
	return dependency.Finder{Store: r.Store, Read: r.read}.Of(meter.Without(ctx), destroyed)
}
