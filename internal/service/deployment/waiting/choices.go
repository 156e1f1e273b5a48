package waiting

import (
	"context"
	"fmt"
	"slices"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/optional"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/inputvalidation"
)

// choice is an instance that the inputs of a deployment choose.
type choice struct {
	deploymentID, pointer, instanceID string
	// readID is what was live there and was read, nil for nothing.
	readID *string
}

// choiceTexts read those of deployments by their ids, by whether the database is PostgreSQL.
var choiceTexts = map[bool]string{false: newChoiceText(false), true: newChoiceText(true)}

func newChoiceText(postgres bool) string {
	return `SELECT "r"."deployment_id", "r"."pointer", "r"."module_instance_id", "r"."read_deployment_id" FROM
"deployment_references" AS "r" WHERE ` +
		store.Among(`"r"."deployment_id"`, `"r"."organization_id"`, postgres) +
		` ORDER BY "r"."deployment_id", "r"."sequence"`
}

// choices reads those of deployments. Each is work of the context's request before the next one is read.
func (r waitingReader) choices(ctx context.Context, deploymentIDs []string) (list []choice, err error) {
	args := []any{r.Store.List(deploymentIDs), store.Scope(actor.From(ctx))}
	err = r.read(ctx, choiceTexts[r.Store.Postgres()], args, func(row store.Rows) error {
		if err := meter.Spend(ctx, meter.Inputs, inputvalidation.ReferenceBytes); err != nil {
			return err
		}
		var c choice
		if err := row.Scan(&c.deploymentID, &c.pointer, &c.instanceID, &c.readID); err != nil {
			return err
		}
		list = append(list, c)
		return nil
	})
	return list, err
}

// wrongChoices returns, by the ids of deployments, what is wrong with the instances that their inputs choose. Replays
// choose none: their choices were judged when they were given.
func (r waitingReader) wrongChoices(ctx context.Context, of map[string]*waiting) (map[string][]fault.Violation, error) {
	var ids []string
	for id, w := range of {
		if optional.OrZero(w.Starts.GivenFrom) != id {
			continue
		}
		if ids = append(ids, id); w.Live != "" {
			ids = append(ids, w.Live) // which may keep what is archived
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	list, err := r.choices(ctx, slices.Compact(ids))
	if err != nil || len(list) == 0 {
		return nil, err
	}

	var chosen []string
	isMade := map[[2]string]bool{} // by the deployment and the instance that it chooses
	for _, c := range list {
		chosen = append(chosen, c.instanceID)
		isMade[[2]string{c.deploymentID, c.instanceID}] = true
	}
	slices.Sort(chosen)
	chosen = slices.Compact(chosen)
	there, err := r.client.ModuleInstance.Query().Where(moduleinstance.IDIn(chosen...)).
		Select(moduleinstance.FieldID, moduleinstance.FieldArchivedAt, moduleinstance.FieldLiveDeploymentID).All(ctx)
	if err != nil {
		return nil, err
	}
	leaving, err := r.client.Deployment.Query().Where(deployment.ModuleInstanceIDIn(chosen...), state.IsDestroying).
		Select(deployment.FieldModuleInstanceID).All(ctx)
	if err != nil {
		return nil, err
	}

	found := record.ByKey(there, func(i *ent.ModuleInstance) string { return i.ID })
	leaves := record.ByKey(leaving, func(d *ent.Deployment) string { return d.ModuleInstanceID })
	wrong := map[string][]fault.Violation{}
	for _, c := range list {
		w := of[c.deploymentID]
		if w == nil || optional.OrZero(w.Starts.GivenFrom) != c.deploymentID {
			continue
		}
		flaw := c.flaw(found[c.instanceID], leaves[c.instanceID] != nil, isMade[[2]string{w.Live, c.instanceID}])
		if flaw != "" {
			wrong[c.deploymentID] = append(
				wrong[c.deploymentID], fault.Violation{Pointer: "/inputs" + c.pointer, Rule: "reference", Message: flaw},
			)
		}
	}
	return wrong, nil
}

// flaw returns why the choice may not be made any more, "" if it may: of an instance, nil for none, that may be about
// to be destroyed, and that the live deployment may have chosen, too.
func (c choice) flaw(i *ent.ModuleInstance, leaves, wasChosen bool) string {
	switch {
	case i == nil:
		return fmt.Sprintf("must be an instance of the organization; there is none with the id %s any more", c.instanceID)
	case i.ArchivedAt != nil && !wasChosen:
		return "must be an instance that is not archived, found one that is"
	case leaves:
		return "must be an instance that is not about to be destroyed, found one of which an active deployment destroys " +
			"what is live"
	case c.readID != nil && i.LiveDeploymentID == nil:
		return fmt.Sprintf(
			"must be an instance of which something is live, found %s, of which nothing is any more", c.instanceID,
		)
	}
	return ""
}
