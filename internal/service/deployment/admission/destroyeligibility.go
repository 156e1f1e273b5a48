package admission

import (
	"context"

	"slipway/ent"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/record"
	"slipway/internal/service/access"
	"slipway/internal/service/dependency"
	"slipway/internal/service/deployment/state"
)

// CheckDestroyable returns why an actor may not destroy an instance, as far as that does not depend on what is live.
func CheckDestroyable(a *actor.Actor, i *ent.ModuleInstance) error {
	place := actor.Place{ProjectID: i.ProjectID, EnvironmentID: i.EnvironmentID}
	if err := access.CheckIn(a, access.DestroyInstances, place, fault.ModuleInstanceForbidden); err != nil {
		return err
	}
	if i.LiveDeploymentID == nil {
		return fault.New(
			fault.ModuleInstanceNothingLive, "The module instance %s cannot be destroyed: nothing of it is live.", i.ID,
		)
	}
	return nil
}

// DestroyEligibilities returns, for each instance of the ids that there is, whether the actor could destroy it now.
// Destroy makes the same check. It takes as many statements however many ids there are.
func (s *Service) DestroyEligibilities(ctx context.Context, ids []string) (map[string]*Eligibility, error) {
	instances, err := s.Store.Client.ModuleInstance.Query().Where(moduleinstance.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, err
	}

	var live []string
	for _, i := range instances {
		if i.LiveDeploymentID != nil {
			live = append(live, *i.LiveDeploymentID)
		}
	}

	list, err := s.ReadSources(ctx, s.Store.Query, live)
	if err != nil {
		return nil, err
	}
	check, err := s.NewEligibilityCheck(ctx, list, Destroy)
	if err != nil {
		return nil, err
	}
	if err := check.readRules(ctx, list); err != nil {
		return nil, err
	}

	dependents, err := dependency.In(s.Store).Of(ctx, ids)
	if err != nil {
		return nil, err
	}

	sources := record.ByKey(list, func(from *Source) string { return from.ID })
	of := make(map[string]*Eligibility, len(instances))
	for _, i := range instances {
		if err := CheckDestroyable(check.actor, i); err != nil {
			if of[i.ID], err = check.Eligibility(err, nil, state.ConcernsOf(i).Warnings("/id")); err != nil {
				return nil, err
			}
			continue
		}

		from := sources[*i.LiveDeploymentID]
		if from == nil {
			continue // it is another by now
		}
		err := dependency.Refusal(i.ID, dependents[i.ID])
		if err == nil {
			err = s.CheckReplayable(check.actor, Destroy, from, func() error { return check.Prove(from) }, check.at)
		}
		if of[i.ID], err = check.judged(ctx, Destroy, from, err); err != nil {
			return nil, err
		}
	}

	return of, nil
}
