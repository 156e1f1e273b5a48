package rule

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"slipway/ent"
	entrule "slipway/ent/rule"
	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
)

// InForce returns the expression of the rules that are in force in an environment, as one text, which Decode reads: so
// that they come with what a statement reads in any case. The ids of the organization, the project and the environment
// are expressions of that statement.
func InForce(organization, project, environment string, postgres bool) string {
	one, list := "json_object", `NULLIF(json_group_array({one} ORDER BY "u"."created_at", "u"."id"), '[]')`
	operations, demand := `json("u"."operations")`, `json("u"."demand")`
	overridable := `json(CASE WHEN "u"."overridable" THEN 'true' ELSE 'false' END)`
	if postgres {
		one, list = "json_build_object", `CAST(json_agg({one} ORDER BY "u"."created_at", "u"."id") AS text)`
		operations, demand, overridable = `"u"."operations"`, `"u"."demand"`, `"u"."overridable"`
	}
	one += `('id', "u"."id", 'version', "u"."version", 'name', "u"."name", 'overridable', ` + overridable +
		`, 'operations', ` + operations + `, 'demand', ` + demand + `)`
	return `(SELECT ` + strings.Replace(list, "{one}", one, 1) + ` FROM "rules" AS "u" WHERE "u"."organization_id" = ` +
		organization +
		` AND "u"."ended_at" IS NULL AND ` + binding(`"u"`, project, environment) + `)`
}

// Decode reads what InForce has selected, nil for nothing, as work of the context's request. The rules are shared.
func Decode(ctx context.Context, text *string) ([]gate.Rule, error) {
	if text == nil {
		return nil, nil
	}
	if err := meter.Decode(ctx, meter.Stored, *text); err != nil {
		return nil, err
	}
	list, err := kept.rules(*text)
	if err != nil {
		return nil, fmt.Errorf("rule: %w", err)
	}
	return list, nil
}

// allTexts read the rules in force, by whether the database is PostgreSQL. SQLite is told which index has only those:
// it knows nothing of how many have ended.
var allTexts = map[bool]string{false: newAllText(` INDEXED BY "rule_in_force"`), true: newAllText("")}

func newAllText(index string) string {
	return `SELECT "` + strings.Join(entrule.Columns, `", "`) + `" FROM "rules"` + index +
		` WHERE "organization_id" = $1 AND "ended_at" IS NULL ORDER BY "created_at", "id"`
}

// binding is the condition that a rule of a table is for deployments in an environment of a project.
func binding(table, project, environment string) string {
	return `(` + table + `."project_id" IS NULL OR ` + table + `."project_id" = ` + project + `) AND (` +
		table + `."environment_id" IS NULL OR ` + table + `."environment_id" = ` + environment + `)`
}

// All returns the rules of the organization that are in force, the oldest first. Each is work of the context's request
// before it is decoded.
func All(ctx context.Context, read store.Reader, postgres bool) (all []*ent.Rule, err error) {
	err = read(ctx, allTexts[postgres], []any{store.Scope(actor.From(ctx))}, func(row store.Rows) error {
		r, demand := &ent.Rule{}, ""
		targets := make([]any, len(entrule.Columns))
		for i, column := range entrule.Columns {
			if targets[i] = r.ScanTarget(column); column == entrule.FieldDemand {
				targets[i] = &demand
			}
		}
		if err := row.Scan(targets...); err != nil {
			return err
		}

		if err := meter.Spend(ctx, meter.Rules, 1); err != nil {
			return err
		}
		if err := meter.Decode(ctx, meter.Stored, demand); err != nil {
			return err
		}
		all = append(all, r)
		return json.Unmarshal([]byte(demand), &r.Demand)
	})
	return all, err
}

// Any returns the expression of whether an organization has rules in force; its id is an expression of that statement.
func Any(organization string) string {
	return `EXISTS (SELECT 1 FROM "rules" AS "u" WHERE "u"."organization_id" = ` + organization +
		` AND "u"."ended_at" IS NULL)`
}

// isFor reports whether a rule is for deployments in an environment of a project.
func isFor(r *ent.Rule, place actor.Place) bool {
	in := PlaceOf(r)
	return (in.EnvironmentID == "" || in.EnvironmentID == place.EnvironmentID) && (in.ProjectID == "" ||
		in.ProjectID == place.ProjectID)
}

// In returns those of some rules that are for deployments in an environment of a project, as package gate has them.
func In(all []*ent.Rule, place actor.Place) (list []gate.Rule) {
	for _, r := range these(all, place) {
		list = append(list, Judged(r))
	}
	return list
}

// these returns those of some rules that are for deployments in an environment of a project. InForce asks a database
// for the same.
func these(all []*ent.Rule, place actor.Place) (list []*ent.Rule) {
	for _, r := range all {
		if isFor(r, place) {
			list = append(list, r)
		}
	}
	return list
}

// InForceOf returns the rules that are in force in each environment of the ids, the oldest first. Each that an
// environment has is work of the context's request.
func (s *Service) InForceOf(ctx context.Context, environmentIDs []string) (map[string][]*ent.Rule, error) {
	// whatever of them is shown
	environments, err := record.Environments.In(s.Store).ByIDs(record.Whole(ctx), environmentIDs)
	if err != nil {
		return nil, err
	}
	all, err := All(ctx, s.Store.Query, s.Store.Postgres())
	if err != nil {
		return nil, err
	}

	of := map[string][]*ent.Rule{}
	for _, environment := range environments {
		place := actor.Place{ProjectID: environment.ProjectID, EnvironmentID: environment.ID}
		if list := these(all, place); len(list) > 0 {
			of[environment.ID] = list
		}
		if err := meter.Spend(ctx, meter.Rules, len(of[environment.ID])); err != nil {
			return nil, err
		}
	}
	return of, nil
}

// RequirementsOf returns what the rules come to now for an operation in each environment of the ids, of which nothing
// else is known. A rule is judged once, however many environments it is for.
func (s *Service) RequirementsOf(
	ctx context.Context, environmentIDs []string, op gate.Operation,
) (map[string][]gate.Requirement, error) {
	rules, err := s.InForceOf(ctx, environmentIDs)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	at, err := s.Journal.Clock(ctx)
	if err != nil {
		return nil, err
	}

	judged := map[string][]gate.Requirement{} // by the rule; none for one that does not bind the operation
	of := map[string][]gate.Requirement{}
	for environmentID, list := range rules {
		for _, r := range list {
			requirements, known := judged[r.ID]
			if !known {
				if requirements, err = gate.Judge(ctx, []gate.Rule{Judged(r)}, gate.Facts{Operation: op}, at); err != nil {
					return nil, err
				}
				judged[r.ID] = requirements
			}
			of[environmentID] = append(of[environmentID], requirements...)
		}
	}
	return of, nil
}
