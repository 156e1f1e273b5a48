package view

import (
	"context"
	"slices"
	"strings"

	"slipway/internal/base/actor"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/rule"
)

// awaitingMine returns the conditions that a deployment waits for an approval which an actor could give: a rule of its
// place takes it, the actor may deploy there, is another than the author, and has not given one yet that may count: by
// a token that is valid still, in today's role.
func (s *Service) awaitingMine(ctx context.Context, a *actor.Actor) ([]record.Condition, error) {
	none := []record.Condition{record.Where("1 = 0")}
	if !slices.Contains(access.Permissions(a), access.Deploy) {
		return none, nil
	}
	rules, err := rule.All(ctx, s.Store.Query, s.Store.Postgres())
	if err != nil {
		return nil, err
	}

	var places []string
	var args []any
	for _, r := range rules {
		demand, ok := r.Demand.Kind.(*gate.Approvals)
		in := rule.PlaceOf(r)
		if !ok || !demand.Takes(gate.Approval{Holder: a.Holder, Role: a.Role}) {
			continue
		}

		triggers := state.TriggersOf(r.Operations)
		condition := `"trigger_source" IN (?` + strings.Repeat(", ?", len(triggers)-1) + `)`
		for _, trigger := range triggers {
			args = append(args, trigger)
		}

		switch {
		case in.EnvironmentID != "":
			condition, args = condition+` AND "environment_id" = ?`, append(args, in.EnvironmentID)
		case in.ProjectID != "":
			condition, args = condition+` AND "project_id" = ?`, append(args, in.ProjectID)
		}

		places = append(places, "("+condition+")")
	}

	if len(places) == 0 {
		return none, nil
	}
	same, err := s.inOneHand(ctx, a.PrincipalID)
	if err != nil {
		return nil, err
	}

	conditions := []record.Condition{
		record.Where(`"status" = 'AWAITING_APPROVAL'`),
		record.Where("("+strings.Join(places, " OR ")+")", args...),
		record.Where(`("created_by_id" IS NULL OR "created_by_id" NOT IN (`+s.listed()+`))`, s.Store.List(same)),
		record.Where(`NOT EXISTS (SELECT 1 FROM "approvals" AS "v" JOIN "tokens" AS "t" ON "t"."id" = "v"."token_id"
			WHERE "v"."organization_id" = ? AND "v"."deployment_id" = "deployments"."id" AND "v"."principal_id" = ? AND
"v"."approved"
			AND "v"."role" = ? AND "t"."revoked_at" IS NULL AND ("t"."expires_at" IS NULL OR "t"."expires_at" > ?))`,
			store.Scope(a), a.PrincipalID, string(a.Role), s.Journal.Now()),
	}

	if a.Scope != nil {
		conditions = append(conditions,
			record.Where(`("project_id" IN (`+s.listed()+`) OR "environment_id" IN (`+s.listed()+`))`,
				s.Store.List(a.Scope.Projects), s.Store.List(a.Scope.Environments)))
	}

	return conditions, nil
}

// listed returns what selects the texts of one argument, a List.
func (s *Service) listed() string {
	if s.Store.Postgres() {
		return `SELECT unnest(CAST(? AS text[]))`
	}
	return `SELECT "value" FROM json_each(?)`
}

// inOneHand returns a principal, those who have made its tokens, and those whose tokens it has made.
func (s *Service) inOneHand(ctx context.Context, principalID string) ([]string, error) {
	makers, err := s.Store.MakersOf(ctx, nil, []string{principalID})
	if err != nil {
		return nil, err
	}
	made, err := s.Store.MadeBy(ctx, principalID)
	return append(append(makers[principalID], made...), principalID), err
}
