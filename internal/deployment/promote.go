package deployment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/actor"
	"slipway/internal/ecs"
	"slipway/internal/fault"
	"slipway/internal/gate"
	"slipway/internal/id"
	"slipway/internal/inputprop"
	"slipway/internal/inputvalidation"
	"slipway/internal/record"
	"slipway/internal/rule"
	"slipway/internal/store"
	"slipway/internal/strictjson"
)

// Promotion asks for a deployment of one instance with what was given to a deployment of another of the same module.
type Promotion struct {
	// SourceID is the deployment, which has succeeded, and InstanceID the instance that it is brought to.
	SourceID, InstanceID string
	// Inputs are values in the place of those of the source: of inputs that the instance keeps of its own, and of references. It
	// may be nil.
	Inputs *strictjson.Node
	// Artifact is in the place of the source's, where the instance keeps its own; nil for none.
	Artifact *strictjson.Node
	// PipelineRunID and StepExecutionID are what it is part of; nil for nothing.
	PipelineRunID, StepExecutionID *string
	Request
}

// PromoteWarned creates a deployment of an instance with what was given to one of another, judged as if it had been given
// there, and returns what the caller should see to besides. It fails with the errors of Create, and with
// DeploymentTargetNotSucceeded and DeploymentNotPromoted.
func (s *Service) PromoteWarned(ctx context.Context, in Promotion) (*ent.Deployment, []inputprop.Warning, error) {
	return s.make(ctx, s.creation(in))
}

func (Promotion) action() string            { return "promoteDeployment" }
func (Promotion) operation() gate.Operation { return gate.Promote }
func (Promotion) triggerSource() string     { return TriggerPromotion }

// given implements origin.
func (in Promotion) given() New {
	return New{
		InstanceID: in.InstanceID, Inputs: in.Inputs, Artifact: in.Artifact,
		PipelineRunID: in.PipelineRunID, StepExecutionID: in.StepExecutionID, Request: in.Request,
	}
}

// arguments implements origin.
func (in Promotion) arguments() []any { return in.given().argumentsWith(&in.SourceID) }

// planned implements origin.
func (in Promotion) planned() []any {
	in.Request = in.Request.planned()
	return in.arguments()
}

// find implements origin: it reads what is promoted, and the instance that it is brought to, and notes both, with the version.
func (in Promotion) find(ctx context.Context, s *Service) (*prepared, error) {
	if err := store.CheckID(id.ModuleInstance, in.InstanceID, fault.ModuleInstanceNotFound); err != nil {
		return nil, err
	}
	from, err := find(ctx, s.Store.Client.Deployment, in.SourceID)
	if err != nil {
		return nil, err
	}
	instance, err := s.Store.Client.ModuleInstance.Get(ctx, in.InstanceID)
	if instance, err = store.NotFoundAs(instance, err, in.InstanceID, fault.ModuleInstanceNotFound); err != nil {
		return nil, err
	}
	if err := checkPromotable(from); err != nil {
		return nil, err
	}
	source, err := s.Store.Client.ModuleInstance.Get(ctx, from.ModuleInstanceID)
	if err != nil {
		return nil, err
	}
	switch {
	case source.ID == instance.ID:
		return nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/moduleInstanceId", Rule: "same_instance",
			Message: "must be another instance than that of the deployment; redeploy it there, or roll back to it"})
	case source.ModuleDefinitionID != instance.ModuleDefinitionID:
		return nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/moduleInstanceId", Rule: "other_module",
			Message: fmt.Sprintf("must be an instance of the module %s, found one of %s", source.ModuleDefinitionID, instance.ModuleDefinitionID)})
	}
	if from.ReleaseID == nil {
		return nil, notStored(from.ID)
	}
	shipped, err := s.Store.Client.Release.Get(ctx, *from.ReleaseID)
	if ent.IsNotFound(err) {
		return nil, notStored(from.ID)
	}
	if err != nil {
		return nil, err
	}
	version, err := s.Store.Client.ModuleVersion.Get(ctx, shipped.ModuleVersionID)
	if err != nil {
		return nil, err
	}
	return &prepared{instance: instance, version: version, promoted: from}, nil
}

// checkPromotable returns why a deployment cannot be promoted, nil where it can.
func checkPromotable(from *ent.Deployment) error {
	switch {
	case from.TriggerSource == TriggerEvent:
		return noRelease(from.ID)
	case from.TriggerSource == TriggerDestroy:
		f := fault.New(fault.DeploymentNotReplayable, "The deployment %s was a destroy, which is not promoted.", from.ID)
		f.Metadata = map[string]any{"deploymentId": from.ID}
		return f
	case from.Status != deployment.StatusSUCCEEDED:
		f := fault.New(fault.DeploymentTargetNotSucceeded, "The deployment %s cannot be promoted: its status is %s, not SUCCEEDED.", from.ID, from.Status)
		f.Metadata = map[string]any{"deploymentId": from.ID, "status": string(from.Status)}
		return f
	}
	return nil
}

// take implements origin. What is to be created has the inputs as they count as given, the artifact, and goes where the
// instance's live deployment went.
func (in Promotion) take(ctx context.Context, s *Service, p *prepared) ([]fault.Violation, error) {
	var live *ent.Deployment
	var err error
	if id := p.instance.LiveDeploymentID; id != nil {
		if live, err = s.Store.Client.Deployment.Get(ctx, *id); err != nil {
			return nil, err
		}
	}
	list, err := p.version.Inputs.Properties(ctx)
	if err != nil {
		return nil, err
	}
	if p.scope, err = s.Inputs.InstanceScope(ctx, p.instance, p.version); err != nil {
		return nil, err
	}

	promotion := inputvalidation.Promotion{From: p.promoted, To: p.instance, Live: live, Inputs: list, Scope: p.scope, Values: in.Inputs}
	var violations []fault.Violation
	if p.taken, violations, err = s.Inputs.Promote(ctx, promotion, "/inputs"); err != nil {
		return nil, err
	}
	p.Inputs = p.taken.Values
	wrong, err := s.takeArtifact(ctx, p, live)
	if live != nil {
		p.ResourceARN, p.ResourceName = live.ResourceArn, live.ResourceName
		if err == nil && p.version.Kind == ecs.Type {
			p.target, err = live.Data.Target()
		}
	}

	from := p.promoted
	p.Description = new(describe("Promotion of", from.ID, p.version.Version, from.Status, *from.CompletedAt, from.CreatedBy))
	return append(violations, wrong...), err
}

// takeArtifact sets the artifact of a promotion: what is given anew or live, where the instance keeps its own, else what is
// promoted.
func (s *Service) takeArtifact(ctx context.Context, p *prepared, live *ent.Deployment) (violations []fault.Violation, err error) {
	isOwn := slices.Contains(p.instance.OwnInputs, inputvalidation.OwnArtifact)
	switch {
	case p.Artifact != nil && !isOwn:
		return []fault.Violation{{Pointer: "/artifact", Rule: "not_own",
			Message: "must not be given anew: what is promoted has one, and the artifact is not among the instance's own inputs"}}, nil
	case p.Artifact != nil || p.version.Kind != ecs.Type:
		return nil, nil
	case isOwn && live != nil:
		p.Artifact, err = s.artifactOf(ctx, live)
	case !isOwn:
		p.Artifact, err = s.artifactOf(ctx, p.promoted)
	}
	return nil, err
}

// maxPromotable is how many deployments are named that could be promoted to an instance.
const maxPromotable = 50

// PromotableOf returns, for each instance of the ids, what could be promoted to it: the live deployments of the other instances
// of its module that are not archived, in the environments that a rule names which binds promotions there, or where none does
// in its project; at most 50, the newest first.
func (s *Service) PromotableOf(ctx context.Context, ids []string) (map[string][]*record.Deployment, error) {
	targets, err := s.Store.Client.ModuleInstance.Query().Where(moduleinstance.IDIn(ids...)).All(ctx)
	if err != nil || len(targets) == 0 {
		return nil, err
	}
	rules, err := rule.All(ctx, s.Store.Query, s.Store.Postgres())
	if err != nil {
		return nil, err
	}
	liveIDs := map[string][]string{}
	var all []string
	for part := range slices.Chunk(targets, promotableAtOnce) {
		text, args := s.promotableText(part, rules)
		err := s.Store.Query(ctx, text, append([]any{store.Scope(actor.From(ctx))}, args...), func(row store.Rows) error {
			var targetID, liveID string
			err := row.Scan(&targetID, &liveID)
			liveIDs[targetID], all = append(liveIDs[targetID], liveID), append(all, liveID)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	good, err := s.onlyGood(ctx, all, s.Journal.Now())
	if err != nil {
		return nil, err
	}
	live, err := s.DeploymentsByID(ctx, good)
	if err != nil {
		return nil, err
	}
	found := record.ByKey(live, func(d *record.Deployment) string { return d.ID })
	of := map[string][]*record.Deployment{}
	for id, list := range liveIDs {
		for _, liveID := range list {
			if d := found[liveID]; d != nil {
				of[id] = append(of[id], d)
			}
		}
	}
	return of, nil
}

// promotableAtOnce is for how many instances one statement looks.
const promotableAtOnce = 50

// promotableTo reads what could be promoted to one target.
var promotableTo = fmt.Sprintf(`SELECT * FROM (
SELECT CAST({target} AS text) AS "target", "live_deployment_id", "created_at", "id" FROM "module_instances"
WHERE "organization_id" = $1 AND "module_definition_id" = {module} AND "id" <> {target} AND "live_deployment_id" IS NOT NULL AND "archived_at" IS NULL
AND {from}
ORDER BY "created_at" DESC, "id" DESC LIMIT %d) AS "of"`, maxPromotable)

// promotableText returns the statement that reads for each target the live deployments of its neighbours, the newest first, and
// its arguments after the first, which is the organization.
func (s *Service) promotableText(targets []*ent.ModuleInstance, rules []*ent.Rule) (text string, args []any) {
	parts := make([]string, len(targets))
	for i, target := range targets {
		at := func(k int) string { return fmt.Sprintf("$%d", len(args)+1+k) }
		// One condition alone, for which there is an index: of a module there may be many instances elsewhere.
		from, of := `"project_id" = `+at(3), any(target.ProjectID)
		if environmentIDs := promotedFrom(rules, target); len(environmentIDs) > 0 {
			from, of = `"environment_id" IN (SELECT "value" FROM `+s.Store.Each(at(3))+`)`, s.Store.List(environmentIDs)
		}
		parts[i] = strings.NewReplacer("{target}", at(1), "{module}", at(2), "{from}", from).Replace(promotableTo)
		args = append(args, target.ID, target.ModuleDefinitionID, of)
	}
	return `SELECT "target", "live_deployment_id" FROM (` + strings.Join(parts, " UNION ALL ") + `) AS "all" ORDER BY "created_at" DESC, "id" DESC`, args
}

// promotedFrom returns the environments from which the rules demand that what is promoted to an instance comes, nil for none.
func promotedFrom(rules []*ent.Rule, to *ent.ModuleInstance) (environmentIDs []string) {
	for _, r := range rule.In(rules, actor.Place{ProjectID: to.ProjectID, EnvironmentID: to.EnvironmentID}) {
		if demand, ok := r.Demand.Kind.(*gate.LiveIn); ok && r.Binds(gate.Promote) {
			environmentIDs = append(environmentIDs, demand.EnvironmentIDs...)
		}
	}
	return environmentIDs
}
