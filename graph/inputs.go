package graph

import (
	"context"
	"encoding/json"

	"github.com/99designs/gqlgen/graphql"

	"slipway/ent"
	"slipway/ent/moduledefinition"
	"slipway/graph/model"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/event"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/pure/output"
	"slipway/internal/pure/runlog"
	"slipway/internal/service/account"
	"slipway/internal/service/archive"
	"slipway/internal/service/catalog"
	"slipway/internal/service/defaults"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/service/workspace"
)

// The functions of this file turn the schema's inputs into those of the services.

func newDefinition(in model.CreateDefaultValueDefinitionInput) defaults.New {
	return defaults.New{GivenID: in.GivenID, Name: in.Name, Description: in.Description.Value(), Schema: in.Schema}
}

func definitionPatch(in model.UpdateDefaultValueDefinitionInput) defaults.Patch {
	p := defaults.Patch{
		Name: in.Name.Value(), Description: in.Description.Value(), Schema: in.Schema.Value(),
		Version: in.ExpectedVersion.Value(), DryRun: isTrue(in.DryRun),
	}
	p.Violations = append(notNull("/name", in.Name), notNull("/description", in.Description)...)
	p.Violations = append(p.Violations, notNull("/schema", in.Schema)...)
	return p
}

func newToken(in model.CreateTokenInput) account.NewToken {
	t := account.NewToken{Name: in.Name, Role: in.Role, ExpiresAt: in.ExpiresAt.Value(), Holder: in.Holder.Value()}
	if scope := in.Scope.Value(); scope != nil {
		t.Scope = account.ScopeOf(
			scope.ProjectIds.Value(), scope.EnvironmentIds.Value(), scope.ModuleDefinitionIds.Value(),
		)
	}
	return t
}

func newModule(in model.CreateModuleDefinitionInput) catalog.NewDefinition {
	status := moduledefinition.StatusDRAFT
	if given := in.Status.Value(); given != nil {
		status = *given
	}
	return catalog.NewDefinition{Name: in.Name, Type: in.Type, Description: in.Description.Value(), Status: status}
}

func modulePatch(in model.UpdateModuleDefinitionInput) catalog.DefinitionPatch {
	p := catalog.DefinitionPatch{
		Name: in.Name.Value(), Type: in.Type.Value(), Description: in.Description.Value(), Status: in.Status.Value(),
	}
	p.Violations = append(notNull("/name", in.Name), notNull("/type", in.Type)...)
	p.Violations = append(p.Violations, notNull("/description", in.Description)...)
	p.Violations = append(p.Violations, notNull("/status", in.Status)...)
	return p
}

func newVersion(in model.PublishModuleVersionInput) module.NewVersion {
	inputs, violations := inputprop.FromTypedList(in.Inputs, "/inputs")
	return module.NewVersion{
		DefinitionID: in.ModuleDefinitionID, Version: in.Version, Kind: in.DeploymentType, Inputs: inputs,
		Outputs: declaredOutputs(in.Outputs.Value()), SourceURL: in.SourceURL.Value(), SourceRef: in.SourceRef.Value(),
		SourcePath: in.SourcePath.Value(), Violations: violations,
	}
}

func declaredOutputs(list []*model.ModuleOutputInput) []output.Declared {
	declared := make([]output.Declared, len(list))
	for i, o := range list {
		declared[i] = output.Declared{Name: o.Name, Description: o.Description.Value(), Secret: isTrue(o.Secret)}
	}
	return declared
}

func validationRequest(in model.InputValuesInput) inputvalidation.Request {
	q := inputvalidation.Request{
		VersionID: in.ModuleVersionID.Value(), DefinitionID: in.DefaultValueDefinitionID.Value(), Values: in.Values.Value(),
		InstanceID: in.ModuleInstanceID.Value(), EnvironmentID: in.EnvironmentID.Value(),
		Takeover: inputvalidation.Takeover{
			InputsFrom: in.InputsFromDeploymentID.Value(), WithoutInputs: in.WithoutInputs.Value(),
		},
	}
	if list := in.Inputs.Value(); list != nil {
		q.Inputs, q.Violations = inputprop.FromTypedList(list, "/inputs")
	}
	return q
}

// texts reads the parameters of a source, an object of strings.
func texts(params json.RawMessage) (map[string]string, error) {
	if params == nil {
		return nil, nil
	}
	n, err := strictjson.ParseWithin(params, strictjson.Limits{Bytes: len(params)})
	if err != nil || n.Kind != strictjson.Object && n.Kind != strictjson.Null {
		return nil, fault.New(fault.RequestInvalid, "params must be an object of strings.").WithCause(err)
	}
	texts := make(map[string]string, len(n.Keys))
	for i, name := range n.Keys {
		if n.Items[i].Kind != strictjson.String {
			return nil, fault.New(fault.RequestInvalid, "params must be an object of strings; %.60q is none.", name)
		}
		texts[name] = n.Items[i].Text
	}
	return texts, nil
}

func newDeployment(in model.CreateDeploymentInput) propose.New {
	return propose.New{
		InstanceID: in.ModuleInstanceID, VersionID: in.ModuleVersionID,
		Inputs: in.Inputs.Value(), InputsFrom: in.InputsFromDeploymentID.Value(), WithoutInputs: in.WithoutInputs.Value(),
		Artifact: in.Artifact.Value(), Data: in.Data.Value(), Description: in.Description.Value(),
		ResourceARN: in.ResourceArn.Value(), ResourceName: in.ResourceName.Value(),
		Request:       request(in.ExpectedLiveDeploymentID, in.Reason, in.IdempotencyKey, in.ExpectedPlan, in.OverrideReason),
		PipelineRunID: in.PipelineRunID.Value(), StepExecutionID: in.StepExecutionID.Value(),
	}
}

func rollback(in model.RollbackDeploymentInput) propose.Replay {
	return propose.Replay{
		SourceID: in.ID, Request: request(
			in.ExpectedLiveDeploymentID, in.Reason, in.IdempotencyKey, in.ExpectedPlan, in.OverrideReason,
		),
	}
}

func redeployment(in model.RedeployDeploymentInput) propose.Replay {
	return propose.Replay{
		SourceID: in.ID, Request: request(
			in.ExpectedLiveDeploymentID, in.Reason, in.IdempotencyKey, in.ExpectedPlan, in.OverrideReason,
		),
	}
}

func destroy(in model.DestroyModuleInstanceInput) propose.Destroy {
	return propose.Destroy{
		InstanceID: in.ID,
		Request: request(
			in.ExpectedLiveDeploymentID, in.Reason, in.IdempotencyKey, in.ExpectedPlan, in.OverrideReason,
		),
		AcknowledgeDependents: isTrue(in.AcknowledgeDependents),
	}
}

func report(in model.ReportDeploymentInput) execution.Report {
	logs := make([]runlog.Line, len(in.Logs.Value()))
	for i, l := range in.Logs.Value() {
		logs[i] = *l
	}
	events := make([]event.Event, len(in.Events.Value()))
	for i, e := range in.Events.Value() {
		events[i] = *e
	}
	return execution.Report{
		Sequence: in.Sequence.Value(), Events: events, Logs: logs, Data: in.Data.Value(),
		ExternalDeploymentID: in.ExternalDeploymentID.Value(),
		ResourceARN:          in.ResourceArn.Value(), ResourceName: in.ResourceName.Value(),
		PipelineRunID: in.PipelineRunID.Value(), StepExecutionID: in.StepExecutionID.Value(),
	}
}

func cancelDeployment(ctx context.Context, r *Resolver, in model.CancelDeploymentInput) (*ent.Deployment, error) {
	if isTrue(in.Force) {
		return r.Deploy.Execution.ForceCancel(ctx, in.ID, in.Reason.Value())
	}
	return r.Deploy.Execution.Cancel(ctx, in.ID, in.Reason.Value())
}

func completion(in model.CompleteDeploymentInput) execution.Completion {
	return execution.Completion{Failure: failure(in), Canceled: isTrue(in.Canceled), Outputs: in.Outputs.Value()}
}

// isTrue reports whether a flag was given and is set.
func isTrue(v graphql.Omittable[*bool]) bool {
	return isSet(v.Value())
}

// isSet reports whether an argument is given and true.
func isSet(v *bool) bool { return v != nil && *v }

func failure(in model.CompleteDeploymentInput) *fault.Data {
	e := in.Error.Value()
	if e == nil {
		return nil
	}
	data := &fault.Data{Code: string(fault.DeploymentFailed), Message: e.Message}
	if description := e.Description.Value(); description != nil {
		data.Description = *description
	}
	return data
}

func archiveRequest(recordID string, live, dependents graphql.Omittable[*bool]) archive.Request {
	return archive.Request{ID: recordID, AcknowledgeLive: isTrue(live), AcknowledgeDependents: isTrue(dependents)}
}

func projectPatch(in model.UpdateProjectInput) workspace.ProjectPatch {
	return workspace.ProjectPatch{
		Name: in.Name.Value(), Slug: in.Slug.Value(),
		Violations: append(notNull("/name", in.Name), notNull("/slug", in.Slug)...),
	}
}

func environmentPatch(in model.UpdateEnvironmentInput) workspace.EnvironmentPatch {
	return workspace.EnvironmentPatch{
		Name: in.Name.Value(), Slug: in.Slug.Value(),
		Violations: append(notNull("/name", in.Name), notNull("/slug", in.Slug)...),
	}
}

func instancePatch(in model.UpdateModuleInstanceInput) catalog.InstancePatch {
	p := catalog.InstancePatch{Name: in.Name.Value(), OnFailure: in.OnFailure.Value()}
	p.Violations = append(notNull("/name", in.Name), notNull("/onFailure", in.OnFailure)...)
	p.Violations = append(p.Violations, listNotNull("/ownInputs", in.OwnInputs)...)
	if list := in.OwnInputs.Value(); list != nil {
		p.OwnInputs = &list
	}
	return p
}

// listNotNull is notNull for a list.
func listNotNull[T any](pointer string, v graphql.Omittable[[]T]) []fault.Violation {
	list, given := v.ValueOK()
	if !given || list != nil {
		return nil
	}
	return notNull(pointer, graphql.OmittableOf[*T](nil))
}

// notNull refuses the null of a field that may be left out but has no null.
func notNull[T any](pointer string, v graphql.Omittable[*T]) []fault.Violation {
	if value, given := v.ValueOK(); given && value == nil {
		return []fault.Violation{{Pointer: pointer, Rule: "null", Message: "must not be null; leave it out instead"}}
	}
	return nil
}
