// Package rule has the rules of release control: who makes and ends them, and which are in force where. What they come
// to is for package gate to say.
package rule

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"slipway/ent"
	"slipway/ent/predicate"
	entrule "slipway/ent/rule"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/optional"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/access"
)

// Limit is how many rules of an organization may be in force.
const Limit = 200

// Service reads and writes rules.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
}

// New is a rule to be made.
type New struct {
	Name string
	// ProjectID and EnvironmentID are where it is for, nil for everywhere.
	ProjectID, EnvironmentID *string
	// Operations are what it is for; nil for the default of its demand.
	Operations  []gate.Operation
	Demand      gate.Demand
	Overridable bool
}

// Create makes a rule, which binds the transactions that begin after its own, and returns what its maker should see to.
// It fails with RequestInvalid, RuleForbidden, RuleLimit, RuleNameTaken, ProjectNotFound and EnvironmentNotFound.
func (s *Service) Create(ctx context.Context, in New) (*ent.Rule, []inputprop.Warning, error) {
	a := actor.From(ctx)
	if err := access.CheckRole(a, access.ManageRules, fault.RuleForbidden); err != nil {
		return nil, nil, err
	}

	if in.Operations == nil {
		in.Operations = in.Demand.DefaultOperations()
	}
	violations := slices.Concat(
		textrules.Name("/name", in.Name), in.Demand.Check(in.Operations), checkOwnEnvironment(in.Demand, in.EnvironmentID),
	)
	if len(violations) > 0 {
		return nil, nil, fault.Invalid(fault.RequestInvalid, violations...)
	}

	r := &ent.Rule{
		ID: s.Journal.NewID(id.Rule), Name: in.Name, ProjectID: in.ProjectID, EnvironmentID: in.EnvironmentID,
		Operations: in.Operations,
		Demand:     in.Demand, Overridable: in.Overridable, OrganizationID: a.OrganizationID, Version: 1,
		CreatedBy: a.Name, CreatedByActor: optional.NonZero(a.ID),
	}

	err := s.Journal.Write(store.Creating(ctx), "createRule",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			// Of two at once the second counts what the first has made.
			if err := s.Store.Lock(ctx, tx, "rules of "+a.OrganizationID); err != nil {
				return err
			}
			r.CreatedAt, r.UpdatedAt, r.ProjectID = e.At, e.At, in.ProjectID
			if err := findPlace(ctx, tx, r); err != nil {
				return err
			}
			if err := access.CheckIn(a, access.ManageRules, PlaceOf(r), fault.RuleForbidden); err != nil {
				return err
			}
			if err := checkEnvironments(ctx, tx, r.Demand); err != nil {
				return err
			}
			if n, err := tx.Rule.Query().Where(entrule.EndedAtIsNil()).Count(ctx); err != nil || n >= Limit {
				return cmpErr(err, limitReached())
			}
			if err := checkName(ctx, tx, r); err != nil {
				return err
			}
			if err := store.RequireProgram(ctx, tx, store.ReleaseControl); err != nil {
				return err
			}

			e.ObjectID, e.Changes = r.ID, changesOf(r)
			return record.Insert(ctx, tx, r)
		})
	if err != nil {
		return nil, nil, err
	}

	warnings, err := s.warnings(ctx, r)
	return r, warnings, err
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

func limitReached() error {
	f := fault.New(fault.RuleLimit, "The organization has %d rules in force, as many as it may. End some.", Limit)
	f.Metadata = map[string]any{"limit": Limit}
	return f
}

// checkName refuses a name that another rule which is in force in the same place has.
func checkName(ctx context.Context, tx *ent.Tx, r *ent.Rule) error {
	inForce, err := tx.Rule.Query().Where(entrule.EndedAtIsNil(), entrule.Name(r.Name), entrule.IDNEQ(r.ID)).All(ctx)
	if err != nil {
		return err
	}
	for _, other := range inForce {
		if PlaceOf(other) == PlaceOf(r) {
			f := fault.New(fault.RuleNameTaken,
				"The rule %s, which is in force in the same place, has the name %q.", other.ID, r.Name)
			f.Metadata = map[string]any{"ruleId": other.ID}
			return f
		}
	}
	return nil
}

// findPlace completes the place of a rule: an environment is one of its project.
func findPlace(ctx context.Context, tx *ent.Tx, r *ent.Rule) error {
	if r.EnvironmentID != nil {
		environment, err := store.Find(ctx, tx.Environment.Get, id.Environment, *r.EnvironmentID, fault.EnvironmentNotFound)
		if err != nil {
			return err
		}
		if r.ProjectID != nil && *r.ProjectID != environment.ProjectID {
			return fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/environmentId", Rule: "other_project",
				Message: fmt.Sprintf(
					"must be an environment of the project %s, found one of %s", *r.ProjectID, environment.ProjectID,
				)})
		}
		r.ProjectID = &environment.ProjectID
		return nil
	}

	if r.ProjectID == nil {
		return nil
	}
	_, err := store.Find(ctx, tx.Project.Get, id.Project, *r.ProjectID, fault.ProjectNotFound)
	return err
}

// checkOwnEnvironment refuses a demand that what is deployed to an environment was live in the same one before.
func checkOwnEnvironment(d gate.Demand, environmentID *string) (violations []fault.Violation) {
	demand, ok := d.Kind.(*gate.LiveIn)
	if !ok || environmentID == nil {
		return nil
	}
	if i := slices.Index(demand.EnvironmentIDs, *environmentID); i >= 0 {
		violations = append(violations,
			fault.Violation{Pointer: fmt.Sprintf("/demand/liveIn/environmentIds/%d", i), Rule: "own_environment",
				Message: "must be another environment than the one that the rule is for"})
	}
	return violations
}

// checkEnvironments refuses a demand that names an environment which is not there.
func checkEnvironments(ctx context.Context, tx *ent.Tx, d gate.Demand) error {
	demand, ok := d.Kind.(*gate.LiveIn)
	if !ok {
		return nil
	}

	var violations []fault.Violation
	for i, environmentID := range demand.EnvironmentIDs {
		_, err := store.Find(ctx, tx.Environment.Get, id.Environment, environmentID, fault.EnvironmentNotFound)
		switch {
		case fault.Is(err, fault.EnvironmentNotFound):
			violations = append(violations,
				fault.Violation{Pointer: fmt.Sprintf("/demand/liveIn/environmentIds/%d", i), Rule: "not_found",
					Message: fmt.Sprintf("must be the id of an environment, found %.80q, of which there is none", environmentID)})
		case err != nil:
			return err
		}
	}

	if len(violations) == 0 {
		return nil
	}
	return fault.Invalid(fault.RequestInvalid, violations...)
}

// PlaceOf returns where a rule is for.
func PlaceOf(r *ent.Rule) actor.Place {
	var in actor.Place
	if r.ProjectID != nil {
		in.ProjectID = *r.ProjectID
	}
	if r.EnvironmentID != nil {
		in.EnvironmentID = *r.EnvironmentID
	}
	return in
}

// changesOf returns what the audit has of a rule.
func changesOf(r *ent.Rule) map[string]any {
	return map[string]any{
		"name": r.Name, "projectId": r.ProjectID, "environmentId": r.EnvironmentID,
		"operations": r.Operations, "demand": r.Demand, "overridable": r.Overridable,
	}
}

// Patch has the changes of a rule; nil ones stay.
type Patch struct {
	Name        *string
	Operations  []gate.Operation
	Demand      *gate.Demand
	Overridable *bool
	// ExpectedVersion is the version that the caller has seen; nil is not checked.
	ExpectedVersion *int32
	// Violations are what is wrong with it already.
	Violations []fault.Violation
}

// Update changes a rule that is in force, and returns what its maker should see to. If nothing is to change, the
// version stays. It fails with RequestInvalid, RuleNotFound, RuleForbidden, RuleNameTaken and
// RequestPreconditionFailed.
func (s *Service) Update(ctx context.Context, ruleID string, in Patch) (*ent.Rule, []inputprop.Warning, error) {
	updated, err := s.change(ctx, "updateRule", ruleID,
		func(ctx context.Context, tx *ent.Tx, r *ent.Rule, e *journal.Entry) (*ent.RuleUpdateOne, error) {
			if r.EndedAt != nil {
				return nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/id", Rule: "ended",
					Message: "must be a rule that is in force, found one that has ended; make another"})
			}

			changed := in.of(r)
			// A repeat whose answer was lost has changed the version itself.
			e.SkipAudit = in.Violations == nil && reflect.DeepEqual(changesOf(changed), changesOf(r))
			if e.SkipAudit {
				return nil, nil
			}
			if err := checkVersion(r, in.ExpectedVersion); err != nil {
				return nil, err
			}
			if err := s.checkChange(ctx, tx, in, r, changed); err != nil {
				return nil, err
			}

			changes := changesOf(changed)
			delete(changes, "projectId")
			delete(changes, "environmentId")
			e.Changes = changes
			return r.Update().SetName(changed.Name).SetOperations(changed.Operations).SetDemand(changed.Demand).
				SetOverridable(changed.Overridable), nil
		})
	if err != nil {
		return nil, nil, err
	}

	warnings, err := s.warnings(ctx, updated)
	return updated, warnings, err
}

// of returns a rule as the patch changes it.
func (in Patch) of(r *ent.Rule) *ent.Rule {
	changed := *r
	if in.Name != nil {
		changed.Name = *in.Name
	}
	if in.Demand != nil {
		changed.Demand = *in.Demand
	}
	if in.Operations != nil {
		changed.Operations = in.Operations
	}
	if in.Overridable != nil {
		changed.Overridable = *in.Overridable
	}
	return &changed
}

// checkChange refuses what a patch changes a rule to, if it could not be made so.
func (s *Service) checkChange(ctx context.Context, tx *ent.Tx, in Patch, r, changed *ent.Rule) error {
	violations := slices.Concat(
		in.Violations, textrules.Name("/name", changed.Name), changed.Demand.Check(changed.Operations),
		checkOwnEnvironment(changed.Demand, r.EnvironmentID),
	)
	if len(violations) > 0 {
		return fault.Invalid(fault.RequestInvalid, violations...)
	}
	if err := checkEnvironments(ctx, tx, changed.Demand); err != nil || changed.Name == r.Name {
		return err
	}

	// Of two at once the second sees the name of the first.
	if err := s.Store.Lock(ctx, tx, "rules of "+r.OrganizationID); err != nil {
		return err
	}
	return checkName(ctx, tx, changed)
}

// checkVersion refuses a change of a rule that is not of the version that its caller has seen, unless that is nil.
func checkVersion(r *ent.Rule, seen *int32) error {
	if seen == nil || *seen == r.Version {
		return nil
	}
	return fault.New(
		fault.RequestPreconditionFailed, "The rule %s has changed since version %d: it has version %d.",
		r.ID, *seen, r.Version,
	)
}

// End ends a rule: it binds no transaction that begins after this one's end. To end it again changes nothing. The
// version is the one that the caller has seen, nil if that is not to be checked. It fails with RuleNotFound,
// RuleForbidden and RequestPreconditionFailed.
func (s *Service) End(ctx context.Context, ruleID string, version *int32) (*ent.Rule, error) {
	return s.change(ctx, "endRule", ruleID,
		func(ctx context.Context, _ *ent.Tx, r *ent.Rule, e *journal.Entry) (*ent.RuleUpdateOne, error) {
			if e.SkipAudit = r.EndedAt != nil; e.SkipAudit {
				return nil, nil
			}
			if err := checkVersion(r, version); err != nil {
				return nil, err
			}
			e.Changes = map[string]any{"endedAt": e.At}
			a := actor.From(ctx)
			return r.Update().SetEndedAt(e.At).SetEndedBy(a.Name).SetNillableEndedByActor(optional.NonZero(a.ID)), nil
		})
}

// EndOf ends, in the transaction that deletes a place, the rules of that place that are in force.
func EndOf(ctx context.Context, tx *ent.Tx, e *journal.Entry, of predicate.Rule) error {
	list, err := tx.Rule.Query().Where(of, entrule.EndedAtIsNil()).Order(ent.Asc(entrule.FieldID)).All(ctx)
	if err != nil {
		return err
	}
	a := actor.From(ctx)
	for _, r := range list {
		err := r.Update().Where(entrule.Version(r.Version)).AddVersion(1).SetUpdatedAt(e.At).SetEndedAt(e.At).
			SetEndedBy(a.Name).SetNillableEndedByActor(optional.NonZero(a.ID)).Exec(ctx)
		if err != nil {
			return err
		}
		e.Also = append(e.Also, journal.Change{ObjectID: r.ID, Action: "endRule", Changes: map[string]any{"endedAt": e.At}})
	}
	return nil
}

// change carries out a change of a rule. Its version is compared, so that of two at once the second sees the first.
func (s *Service) change(
	ctx context.Context, action, ruleID string,
	f func(context.Context, *ent.Tx, *ent.Rule, *journal.Entry) (*ent.RuleUpdateOne, error),
) (*ent.Rule, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.RuleForbidden); err != nil {
		return nil, err
	}

	var changed *ent.Rule
	err := s.Journal.WriteLatest(ctx, action, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		r, err := store.Find(ctx, tx.Rule.Get, id.Rule, ruleID, fault.RuleNotFound)
		if err != nil {
			return err
		}
		if err := access.CheckIn(a, access.ManageRules, PlaceOf(r), fault.RuleForbidden); err != nil {
			return err
		}

		e.ObjectID, changed = ruleID, r
		u, err := f(ctx, tx, r, e)
		if err != nil || e.SkipAudit {
			return err
		}

		changed, err = u.Where(entrule.Version(r.Version)).AddVersion(1).SetUpdatedAt(e.At).Save(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
}

// Filter has conditions on rules; nil ones do not count.
type Filter struct {
	// Ended has those kept that have ended, or those in force.
	Ended bool
	// ProjectID has those kept that are for the project or for one of its environments.
	ProjectID *string `json:",omitempty"`
	// EnvironmentID has those kept that bind in the environment.
	EnvironmentID *string `json:",omitempty"`
}

// places are the conditions of the filter on where rules are for.
func (f Filter) places(organizationID string) (list []record.Condition) {
	if f.ProjectID != nil {
		list = append(list, record.Where(`("project_id" = ? OR "environment_id" IN (SELECT "e"."id" FROM "environments" AS "e"
			WHERE "e"."project_id" = ? AND "e"."organization_id" = ?))`, *f.ProjectID, *f.ProjectID, organizationID))
	}
	if f.EnvironmentID != nil {
		list = append(list, record.Where(binding(`"rules"`, `(SELECT "e"."project_id" FROM "environments" AS "e"
			WHERE "e"."id" = ? AND "e"."organization_id" = ?)`, `?`), *f.EnvironmentID, organizationID, *f.EnvironmentID))
	}
	return list
}

// Rules returns a page of the organization's rules, the newest first.
func (s *Service) Rules(ctx context.Context, f Filter, args page.Args) (*page.RuleConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.RuleForbidden); err != nil {
		return nil, err
	}
	list := record.Rules.In(s.Store).Where(record.IsSet(entrule.FieldEndedAt, f.Ended)).
		Where(f.places(a.OrganizationID)...)
	return page.Read(ctx, list, args, page.Scope{List: "rules", Viewer: a.OrganizationID, Filter: f})
}

// Rule returns a rule of the organization. It fails with RuleForbidden and RuleNotFound.
func (s *Service) Rule(ctx context.Context, ruleID string) (*ent.Rule, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.RuleForbidden); err != nil {
		return nil, err
	}
	return record.Rules.In(s.Store).ByID(ctx, ruleID, fault.RuleNotFound)
}

// RulesByID returns the rules of the ids that there are, in no order.
func (s *Service) RulesByID(ctx context.Context, ids []string) ([]*ent.Rule, error) {
	return record.Rules.In(s.Store).ByIDs(ctx, ids)
}

// Judged returns a rule as package gate has it.
func Judged(r *ent.Rule) gate.Rule {
	return gate.Rule{
		ID: r.ID, Version: r.Version, Name: r.Name, Operations: r.Operations, Demand: r.Demand, Overridable: r.Overridable,
	}
}
