package state

import (
	"slices"

	"slipway/internal/pure/gate"
)

// operations has the operation of what starts a deployment. What was started outside has none.
var operations = map[string]gate.Operation{
	TriggerAPI: gate.Create, TriggerPipeline: gate.Create, TriggerPromotion: gate.Promote,
	TriggerRedeploy: gate.Redeploy, TriggerRollback: gate.Rollback, TriggerDestroy: gate.Destroy,
}

// OperationOf returns the operation of a deployment by what started it, nil if that was outside.
func OperationOf(triggerSource string) *gate.Operation {
	op, ok := operations[triggerSource]
	if !ok {
		return nil
	}
	return &op
}

// TriggersOf returns what starts deployments of some operations, nil for no list.
func TriggersOf(of []gate.Operation) []string {
	if of == nil {
		return nil
	}
	list := []string{}
	for trigger, op := range operations {
		if slices.Contains(of, op) {
			list = append(list, trigger)
		}
	}
	slices.Sort(list)
	return list
}
