package admission

import (
	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/fault"
	"slipway/internal/pure/gate"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

// Mode is what distinguishes rollbacks, redeploys and destroys, which all replay a deployment.
type Mode struct {
	Action    string
	Operation gate.Operation
	Trigger   string
	Verb      string
	// Permission is what it takes, and forbidden the code for who lacks it.
	Permission access.Action
	forbidden  fault.Code
	// shipsQuarantined is whether the release may be in quarantine.
	shipsQuarantined bool
	// check returns why a deployment may not be replayed so, or nil.
	check func(*Source) error
	// SetSource lets the new deployment refer to the one that it replays; SourceField is the API's name of that.
	SetSource   func(d *ent.Deployment, id string)
	SourceField string
}

// Rollback goes back to a deployment that has succeeded.
var Rollback = Mode{
	Action:      "rollbackDeployment",
	Operation:   gate.Rollback,
	Trigger:     state.TriggerRollback,
	Verb:        "Rollback to",
	Permission:  access.Deploy,
	forbidden:   fault.DeploymentForbidden,
	check:       checkSucceeded,
	SetSource:   func(d *ent.Deployment, id string) { d.RollbackToDeploymentID = &id },
	SourceField: "rollbackToDeploymentId",
}

// Redeploy ships again what one has shipped that has ended, well or not.
var Redeploy = Mode{
	Action:     "redeployDeployment",
	Operation:  gate.Redeploy,
	Trigger:    state.TriggerRedeploy,
	Verb:       "Redeploy of",
	Permission: access.Deploy,
	forbidden:  fault.DeploymentForbidden,
	// One that is active stands in its own way.
	check:       checkNotAwaiting,
	SetSource:   func(d *ent.Deployment, id string) { d.RedeployOfDeploymentID = &id },
	SourceField: "redeployOfDeploymentId",
}

// Destroy is how a destroy goes by the rules of replays: it is one of what is live, and of a release in quarantine,
// too.
var Destroy = Mode{
	Action:           "destroyModuleInstance",
	Operation:        gate.Destroy,
	Trigger:          state.TriggerDestroy,
	Verb:             "Destroy of",
	Permission:       access.DestroyInstances,
	forbidden:        fault.ModuleInstanceForbidden,
	shipsQuarantined: true,
	check:            func(*Source) error { return nil },
	SetSource:        func(*ent.Deployment, string) {},
	SourceField:      "liveDeploymentId",
}

// checkNotAwaiting refuses a source that waits for approvals: it has not been carried out.
func checkNotAwaiting(from *Source) error {
	return state.CheckStatus(&ent.Deployment{ID: from.ID, Status: from.Status}, "redeployed",
		deployment.StatusPENDING, deployment.StatusRUNNING, deployment.StatusSUCCEEDED, deployment.StatusFAILED,
		deployment.StatusCANCELED)
}

func checkSucceeded(target *Source) error {
	if target.Status == deployment.StatusSUCCEEDED {
		return nil
	}
	f := fault.New(fault.DeploymentTargetNotSucceeded,
		"The deployment %s cannot be rolled back to: its status is %s, not SUCCEEDED.", target.ID, target.Status)
	f.Metadata = map[string]any{"deploymentId": target.ID, "status": string(target.Status)}
	return f
}

// ModeOf returns how a deployment is judged and who may make it, by what started it.
func ModeOf(triggerSource string) Mode {
	switch triggerSource {
	case state.TriggerRollback:
		return Rollback
	case state.TriggerRedeploy:
		return Redeploy
	case state.TriggerDestroy:
		return Destroy
	case state.TriggerPromotion:
		return Mode{Operation: gate.Promote, Permission: access.Deploy}
	}
	return Mode{Operation: gate.Create, Permission: access.Deploy}
}
