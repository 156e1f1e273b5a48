// Package dependency says which module instances depend on others: those whose live or active deployment has an input
// that chooses one. What such a deployment chose is kept beside it. Of one that was created by a Slipway which kept
// nothing, the text of its release is searched.
package dependency

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"slipway/ent"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/data/store"
)

// Finder finds the instances that depend on others.
type Finder struct {
	Store *store.Store
	// Read reads: the Query of the Store, or that of a transaction.
	Read store.Reader
}

// In returns a Finder that reads outside of transactions.
func In(s *store.Store) Finder { return Finder{s, s.Query} }

// InTx returns a Finder that reads in a transaction.
func InTx(s *store.Store, tx *ent.Tx) Finder {
	return Finder{s, store.InTx(tx)}
}

// pairBytes is about what it takes to find one dependent, as bytes of what is read back.
const pairBytes = 64

// Of returns, for each of some instances, the ids of those that depend on it: each once, the newest first. What the
// search takes is counted as work of the context's request.
func (f Finder) Of(ctx context.Context, instanceIDs []string) (map[string][]string, error) {
	found := map[string][]string{}
	err := f.Read(ctx, kept(f.Store.Postgres()), []any{store.Scope(actor.From(ctx)), f.Store.List(instanceIDs)},
		func(row store.Rows) error {
			var on, dependent string
			if err := row.Scan(&on, &dependent); err != nil {
				return err
			}
			found[on] = append(found[on], dependent)
			return meter.Spend(ctx, meter.Stored, pairBytes)
		})
	if err == nil {
		err = f.search(ctx, instanceIDs, found)
	}
	for on, ids := range found {
		slices.SortFunc(ids, func(a, b string) int { return strings.Compare(b, a) })
		found[on] = slices.Compact(ids)
	}
	return found, err
}

// named is how many dependents an error names.
const named = 20

// CheckUnused returns ModuleInstanceInUse if others depend on one of some instances, which names them. It is part of
// a transaction, under the lock that keeps others from referring to the instances meanwhile; what it reads is not
// counted, for that must not keep anybody from the write.
func CheckUnused(ctx context.Context, s *store.Store, tx *ent.Tx, instanceIDs []string) error {
	if len(instanceIDs) == 0 {
		return nil
	}
	found, err := InTx(s, tx).Of(meter.Without(ctx), instanceIDs)
	if err != nil {
		return err
	}

	var others []string
	for _, ids := range found {
		for _, id := range ids {
			if !slices.Contains(instanceIDs, id) {
				others = append(others, id)
			}
		}
	}

	slices.Sort(others)
	if others = slices.Compact(others); len(others) == 0 {
		return nil
	}
	return inUse(ctx, tx, others)
}

// Refusal returns ModuleInstanceInUse if an instance has dependents, of which it does not name any; nil if there
// are no others.
func Refusal(instanceID string, dependents []string) error {
	others := slices.DeleteFunc(slices.Clone(dependents), func(id string) bool { return id == instanceID })
	if len(others) == 0 {
		return nil
	}
	return refusal(len(others))
}

func refusal(dependents int) *fault.Error {
	f := fault.New(fault.ModuleInstanceInUse, "The live or active deployments of other instances refer to it: 1 instance.")
	if dependents != 1 {
		f.Message = fmt.Sprintf("The live or active deployments of other instances refer to it: %d instances.", dependents)
	}
	return f
}

func inUse(ctx context.Context, tx *ent.Tx, others []string) error {
	shown := others[:min(len(others), named)]
	list, err := tx.ModuleInstance.Query().Where(moduleinstance.IDIn(shown...)).Order(ent.Asc(moduleinstance.FieldID)).
		All(ctx)
	if err != nil {
		return err
	}
	f := refusal(len(others))
	items := make([]string, len(list))
	for i, instance := range list {
		items[i] = instance.Name + " (" + instance.ID + ")"
	}
	if more := len(others) - len(shown); more > 0 {
		items = append(items, fmt.Sprintf("… and %d more", more))
	}
	f.Details = []fault.Section{{Title: "Instances that refer to it", Render: fault.RenderList, Items: items}}
	f.Metadata = map[string]any{"dependentIds": shown, "dependents": len(others)}
	return f
}
