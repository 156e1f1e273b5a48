package deployment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/deploymentreference"
	"slipway/ent/moduleinstance"
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

// wrongChoices returns, by the ids of deployments, what is wrong with the instances that their inputs choose. Replays choose
// none: their references were judged when they were given.
func (r waitingReader) wrongChoices(ctx context.Context, of map[string]*waiting) (map[string][]fault.Violation, error) {
	var ids []string
	live := map[string]string{} // the deployments that are live where these wait
	for id, w := range of {
		if idOrEmpty(w.starts.GivenFrom) == id {
			ids = append(ids, id)
			live[id] = w.live
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}

	both := slices.Concat(ids, slices.DeleteFunc(slices.Collect(maps.Values(live)), func(id string) bool { return id == "" }))
	list, err := r.client.DeploymentReference.Query().Where(deploymentreference.DeploymentIDIn(both...)).All(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	var chosen []string
	former := map[[2]string]bool{} // by the deployment that is live and the instance that it chose
	for _, one := range list {
		chosen = append(chosen, one.ModuleInstanceID)
		former[[2]string{one.DeploymentID, one.ModuleInstanceID}] = true
	}
	slices.Sort(chosen)
	chosen = slices.Compact(chosen)
	there, err := r.client.ModuleInstance.Query().Where(moduleinstance.IDIn(chosen...)).All(ctx)
	if err != nil {
		return nil, err
	}
	leaving, err := r.client.Deployment.Query().Where(deployment.ModuleInstanceIDIn(chosen...), isDestroying).All(ctx)
	if err != nil {
		return nil, err
	}

	found := byID(there, func(i *ent.ModuleInstance) string { return i.ID })
	destroyed := byID(leaving, func(d *ent.Deployment) string { return d.ModuleInstanceID })
	wrong := map[string][]fault.Violation{}
	for _, one := range list {
		if of[one.DeploymentID] == nil || idOrEmpty(of[one.DeploymentID].starts.GivenFrom) != one.DeploymentID {
			continue
		}
		i, wasChosen := found[one.ModuleInstanceID], former[[2]string{live[one.DeploymentID], one.ModuleInstanceID}]
		var flaw string
		switch {
		case i == nil:
			flaw = fmt.Sprintf("must be an instance of the organization; there is none with the id %s any more", one.ModuleInstanceID)
		case i.ArchivedAt != nil && !wasChosen:
			flaw = "must be an instance that is not archived, found one that is"
		case destroyed[i.ID] != nil:
			flaw = "must be an instance that is not about to be destroyed, found one of which an active deployment destroys what is live"
		case one.ReadDeploymentID != nil && i.LiveDeploymentID == nil:
			flaw = fmt.Sprintf("must be an instance of which something is live, found %s, of which nothing is any more", i.ID)
		default:
			continue
		}
		wrong[one.DeploymentID] = append(wrong[one.DeploymentID], fault.Violation{Pointer: "/inputs" + one.Pointer, Rule: "reference", Message: flaw})
	}
	return wrong, nil
}
