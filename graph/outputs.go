package graph

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"slipway/ent"
	"slipway/graph/model"
	"slipway/graph/scalar"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/record"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/defaults"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/inputvalidation"
)

// deploymentData returns the data of a deployment as the member of the union that it is, or nil.
func deploymentData(ctx context.Context, d *record.Deployment) (scalar.DeploymentData, error) {
	data, err := state.DataOf(ctx, d.Data)
	if err != nil || data == nil {
		return nil, err
	}
	return data, nil
}

// viewer returns who asks, nil for callers without a token.
func viewer(ctx context.Context) *actor.Actor {
	if a := actor.From(ctx); !a.IsAnonymous() {
		return a
	}
	return nil
}

func errorCodes() []*fault.Entry {
	entries := fault.Codes()
	codes := make([]*fault.Entry, len(entries))
	for i := range entries {
		codes[i] = &entries[i]
	}
	return codes
}

// object returns a free-form object as JSON, nil if there is none.
func object(v map[string]any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	return json.Marshal(v)
}

// nilIfZero returns nil for the zero value, which JSON would leave out.
func nilIfZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// digits returns a number that may be greater than GraphQL's Int.
func digits(n int64) string { return strconv.FormatInt(n, 10) }

// inputWarnings returns warnings with their pointers from the argument input on.
func inputWarnings(warnings []inputprop.Warning) []*inputprop.Warning {
	list := make([]*inputprop.Warning, len(warnings))
	for i, w := range warnings {
		w.Pointer = "/input" + w.Pointer
		list[i] = &w
	}
	return list
}

func validation(v *inputvalidation.Validation) *model.InputsValidation {
	return &model.InputsValidation{
		Valid: len(v.Violations) == 0, Violations: pointers(v.Violations), Unresolved: v.Unresolved,
		Warnings: pointers(v.Warnings),
	}
}

// pointers returns the items of a list as gqlgen wants them.
func pointers[T any](items []T) []*T {
	list := make([]*T, len(items))
	for i := range items {
		list[i] = &items[i]
	}
	return list
}

// lastChange returns when a quarantine last changed: it does nothing but end.
func lastChange(q *ent.Quarantine) *time.Time {
	if q.LiftedAt != nil {
		return q.LiftedAt
	}
	return &q.CreatedAt
}

// notNil returns an empty list for none: the executor answers a nil one with null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func updatePayload(ctx context.Context, o *defaults.Outcome) *model.UpdateDefaultValueDefinitionPayload {
	versions := record.Of(
		o.Impact.Versions, func(v *ent.ModuleVersion) *record.ModuleVersion { return (*record.ModuleVersion)(v) },
	)
	instances := record.Of(
		o.Impact.Instances, func(i *ent.ModuleInstance) *record.ModuleInstance { return (*record.ModuleInstance)(i) },
	)
	registerBatch(ctx, versions)
	registerBatch(ctx, instances)
	return &model.UpdateDefaultValueDefinitionPayload{
		DefaultValueDefinition: (*record.DefaultValueDefinition)(o.Definition),
		Changes:                pointers(o.Changes),
		AffectedVersions:       versions,
		AffectedInstances:      instances,
		Warnings:               inputWarnings(o.Warnings),
	}
}
