package graph

import (
	"context"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"slipway/ent"
	"slipway/graph/model"
	"slipway/graph/scalar"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/pure/gate"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/waiting"
	"slipway/internal/service/rule"
)

// The functions of this file turn the schema's inputs about rules, plans and approvals into those of the services, and
// load what a record shows of them for its whole batch.

func newRule(in model.CreateRuleInput) rule.New {
	n := rule.New{
		Name: in.Name, ProjectID: in.ProjectID.Value(), EnvironmentID: in.EnvironmentID.Value(), Demand: demand(in.Demand),
		Overridable: true,
	}
	if list := in.Operations.Value(); list != nil {
		n.Operations = append([]gate.Operation{}, list...)
	}
	if given := in.Overridable.Value(); given != nil {
		n.Overridable = *given
	}
	return n
}

func rulePatch(in model.UpdateRuleInput) rule.Patch {
	p := rule.Patch{
		Name: in.Name.Value(), Overridable: in.Overridable.Value(), ExpectedVersion: in.ExpectedVersion.Value(),
	}
	if list := in.Operations.Value(); list != nil {
		p.Operations = append([]gate.Operation{}, list...)
	}
	if given := in.Demand.Value(); given != nil {
		p.Demand = new(demand(given))
	}
	p.Violations = slices.Concat(notNull(
		"/name", in.Name,
	), listNotNull("/operations", in.Operations), notNull("/demand", in.Demand),
		notNull("/overridable", in.Overridable))
	return p
}

// demand returns what a rule is to demand. That it has exactly one member, the schema says.
func demand(in *model.RuleDemandInput) gate.Demand {
	var kind gate.Kind
	if a := in.Approvals.Value(); a != nil {
		approvals := &gate.Approvals{Count: a.Count, Role: actor.Developer, Holders: a.Holders.Value()}
		if role := a.Role.Value(); role != nil {
			approvals.Role = *role
		}
		kind = approvals
	}

	if h := in.Hours.Value(); h != nil {
		hours := &gate.Hours{TimeZone: h.TimeZone}
		for _, span := range h.Spans {
			hours.Spans = append(hours.Spans, gate.Span{Days: span.Days, From: span.From, To: span.To})
		}
		kind = hours
	}

	if f := in.Freeze.Value(); f != nil {
		kind = &gate.Freeze{From: f.From, Until: f.Until.Value()}
	}

	if l := in.LiveIn.Value(); l != nil {
		liveIn := &gate.LiveIn{EnvironmentIDs: l.EnvironmentIds}
		if minutes := l.Minutes.Value(); minutes != nil {
			liveIn.Minutes = *minutes
		}
		kind = liveIn
	}

	return gate.Demand{Kind: kind}
}

// ruleDemand returns the demand of a rule as the member of the union that it is. The schema of this server has none for
// what a newer one knows.
func ruleDemand(r *ent.Rule) (scalar.RuleDemand, error) {
	if unknown := r.Demand.Unknown(); unknown != "" {
		return nil, fault.New(fault.ServerUnavailable,
			"The rule %s demands %s, which a newer server of this database knows and this one does not. Ask again when all "+
				"servers are of one version.", r.ID, unknown)
	}
	return r.Demand.Kind, nil
}

func promotion(in model.PromoteDeploymentInput) propose.Promotion {
	return propose.Promotion{
		SourceID: in.ID, InstanceID: in.ModuleInstanceID, Inputs: in.Inputs.Value(), Artifact: in.Artifact.Value(),
		Request:       request(in.ExpectedLiveDeploymentID, in.Reason, in.IdempotencyKey, in.ExpectedPlan, in.OverrideReason),
		PipelineRunID: in.PipelineRunID.Value(), StepExecutionID: in.StepExecutionID.Value(),
	}
}

// request returns what every input for a deployment has.
func request(live, reason, key, plan, override graphql.Omittable[*string]) admission.Request {
	return admission.Request{
		ExpectedLiveID: live.Value(), Reason: reason.Value(), IdempotencyKey: key.Value(),
		Control: admission.Control{ExpectedPlan: plan.Value(), OverrideReason: override.Value()},
	}
}

// deploymentPlan returns what a mutation would do.
func deploymentPlan(ctx context.Context, r *Resolver, in model.DeploymentPlanInput) (*propose.Plan, error) {
	switch {
	case in.Create.Value() != nil:
		return planAt("/create")(r.Deploy.Propose.PlanCreate(ctx, newDeployment(*in.Create.Value())))
	case in.Promote.Value() != nil:
		return planAt("/promote")(r.Deploy.Propose.PlanPromote(ctx, promotion(*in.Promote.Value())))
	case in.Redeploy.Value() != nil:
		return planAt("/redeploy")(r.Deploy.Propose.PlanRedeploy(ctx, redeployment(*in.Redeploy.Value())))
	case in.Rollback.Value() != nil:
		return planAt("/rollback")(r.Deploy.Propose.PlanRollback(ctx, rollback(*in.Rollback.Value())))
	case in.Destroy.Value() != nil:
		return planAt("/destroy")(r.Deploy.Propose.PlanDestroy(ctx, destroy(*in.Destroy.Value())))
	}
	return nil, fault.New(fault.RequestInvalid, "input must have one of create, promote, redeploy, rollback and destroy.")
}

// planAt puts the member of the input that was planned before the pointers of a plan.
func planAt(member string) func(*propose.Plan, error) (*propose.Plan, error) {
	return func(p *propose.Plan, err error) (*propose.Plan, error) {
		if err != nil {
			return nil, err
		}
		for i := range p.Warnings {
			p.Warnings[i].Pointer = "/input" + member + p.Warnings[i].Pointer
		}
		if p.Refusal != nil {
			refusal := *p.Refusal
			refusal.Violations = fault.Under(member, slices.Clone(refusal.Violations))
			p.Refusal = &refusal
		}
		return p, nil
	}
}

// planViolations returns the violations of a plan, with pointers from the argument on.
func planViolations(p *propose.Plan) []*fault.Violation {
	list := []*fault.Violation{}
	if p.Refusal == nil {
		return list
	}
	for _, v := range p.Refusal.Violations {
		v.Pointer = "/input" + v.Pointer
		list = append(list, &v)
	}
	return list
}

// refusalOf returns an error as a part of an answer, nil for none.
func refusalOf(ctx context.Context, f *fault.Error) *fault.Data {
	if f == nil {
		return nil
	}
	return new(fault.Public(f, fault.View{RequestID: actor.RequestID(ctx), Root: "/input"}))
}

func requirementsOf(ctx context.Context, r *Resolver, d *record.Deployment) ([]*gate.Requirement, error) {
	list, err := loadEach(ctx, d, "requirements", deploymentID, batched(r.Deploy.Waiting.RequirementsOf))
	return notNil(list), err
}

func environmentRequirements(
	ctx context.Context, r *Resolver, e *record.Environment, op gate.Operation,
) ([]*gate.Requirement, error) {
	list, err := loadEach(ctx, e, "requirements of "+string(op), environmentID, batched(
		func(ctx context.Context, ids []string) (map[string][]gate.Requirement, error) {
			return r.Rules.RequirementsOf(ctx, ids, op)
		},
	))
	return notNil(list), err
}

// plannedRequirements returns the requirements of a plan as a batch.
func plannedRequirements(ctx context.Context, p *propose.Plan) []*gate.Requirement {
	all := pointers(p.Requirements)
	registerBatch(ctx, all)
	return all
}

func approvalsOf(
	ctx context.Context, r *Resolver, d *record.Deployment, args page.Args,
) (*waiting.ApprovalConnection, error) {
	read := sliced("deployment.approvals", batched(r.Deploy.Waiting.ApprovalsOf))
	return loadPage(ctx, d, "approvals", args, deploymentID, read)
}

// takenApprovals returns the approvals that count toward a requirement, nil for one of another demand.
func takenApprovals(ctx context.Context, r *Resolver, q *gate.Requirement) ([]*waiting.Approval, error) {
	if q.ApprovalIDs == nil {
		return nil, nil
	}
	b, err := batchOf(ctx, q)
	if err != nil {
		return nil, err
	}

	byID, err := readOnce(b, "approvals", func(all []*gate.Requirement) (map[string]*waiting.Approval, error) {
		var ids []string
		for _, q := range all {
			ids = append(ids, q.ApprovalIDs...)
		}
		if len(ids) == 0 {
			return nil, nil
		}
		slices.Sort(ids)
		found, err := r.Deploy.Waiting.ApprovalsByID(ctx, slices.Compact(ids))
		registerBatch(ctx, found)
		return record.ByKey(found, func(a *waiting.Approval) string { return a.ID }), err
	})

	taken := []*waiting.Approval{}
	for _, id := range q.ApprovalIDs {
		if a := byID[id]; a != nil {
			taken = append(taken, a)
		}
	}
	return taken, err
}

func waitingEligibilities(
	ctx context.Context, r *Resolver, d *record.Deployment,
) (waiting.WaitingEligibilities, error) {
	return loadEach(ctx, d, "waitingEligibilities", deploymentID, r.Deploy.Waiting.WaitingEligibilities)
}

// waitingFor returns what a deployment waits for. The requirements that are among it are a batch of their own.
func waitingFor(ctx context.Context, r *Resolver, d *record.Deployment) ([]*waiting.Reason, error) {
	list, err := loadEach(ctx, d, "waitingFor", deploymentID, batched(
		func(ctx context.Context, ids []string) (map[string][]waiting.Reason, error) {
			of, err := r.Deploy.Waiting.ReasonsOf(ctx, ids)
			var unmet []*gate.Requirement
			for _, reasons := range of {
				for _, one := range reasons {
					if one.Requirement != nil {
						unmet = append(unmet, one.Requirement)
					}
				}
			}
			registerBatch(ctx, unmet)
			return of, err
		},
	))
	return notNil(list), err
}

func automaticRollback(ctx context.Context, r *Resolver, d *record.Deployment) (*record.Deployment, error) {
	return loadEach(ctx, d, "automaticRollback", deploymentID,
		func(ctx context.Context, ids []string) (map[string]*record.Deployment, error) {
			of, err := r.Deploy.View.AutomaticOf(ctx, ids)
			registerBatch(ctx, slices.Collect(maps.Values(of)))
			return of, err
		})
}

// toRule returns the rule of a requirement.
func toRule(ctx context.Context, r *Resolver, q *gate.Requirement) (*ent.Rule, error) {
	return loadOne(ctx, q, "rule", func(q *gate.Requirement) *string { return &q.Rule.ID }, r.Rules.RulesByID,
		func(r *ent.Rule) string { return r.ID }, func(id string) *ent.Rule { return &ent.Rule{ID: id} })
}
