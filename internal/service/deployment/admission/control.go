package admission

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/base/optional"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/rule"
)

// What decides on a deployment besides what it ships comes with the statement that reads its instance or its source:
// the rules, what is in progress, and how many deployments wait.

// waitingCount returns the expression of how many deployments of an instance wait for approvals.
func waitingCount(organization, instance string) string {
	return `(SELECT COUNT(*) FROM "deployments" AS "w" WHERE "w"."organization_id" = ` + organization +
		` AND "w"."module_instance_id" = ` + instance + ` AND "w"."status" = 'AWAITING_APPROVAL')`
}

// The columns that SelectControl adds.
const (
	rulesColumn   = "rules_in_force"
	activeColumn  = "active_id"
	waitingColumn = "waiting"
)

// noneOf is what these columns have if there is nothing.
var noneOf = map[string]string{rulesColumn: "''", activeColumn: "''", waitingColumn: "0"}

// controlColumns are the expressions of these columns over the instances, by whether the database is PostgreSQL.
var controlColumns = map[bool][3]string{false: newControlColumns(false), true: newControlColumns(true)}

func newControlColumns(postgres bool) [3]string {
	const i = `"` + moduleinstance.Table + `".`
	active := `(SELECT "a"."id" FROM "deployments" AS "a" WHERE "a"."organization_id" = ` + i +
		`"organization_id" AND "a"."module_instance_id" = ` +
		i + `"id" AND ` + store.InProgress(`"a".`) + `)`
	return [3]string{
		rule.InForce(i+`"organization_id"`, i+`"project_id"`, i+`"environment_id"`, postgres), active,
		waitingCount(i+`"organization_id"`, i+`"id"`),
	}
}

// SelectControl returns what adds, for one instance among those of a query, the columns that ReadControl reads.
func (s *Service) SelectControl(instanceID string) func(*entsql.Selector) {
	return func(q *entsql.Selector) {
		for i, name := range []string{rulesColumn, activeColumn, waitingColumn} {
			expression := controlColumns[s.Store.Postgres()][i]
			q.AppendSelectExprAs(entsql.ExprFunc(func(b *entsql.Builder) {
				// Never null, of which SQLite's driver does not know the type.
				b.WriteString("COALESCE(CASE WHEN ").Ident(q.C(moduleinstance.FieldID)).WriteString(" = ").Arg(instanceID)
				b.WriteString(" THEN " + expression + " END, " + noneOf[name] + ")")
			}), name)
		}
	}
}

// ReadControl notes in a proposal what SelectControl has read with its instance.
func (s *Service) ReadControl(ctx context.Context, tx *ent.Tx, i *ent.ModuleInstance, p *Proposal) (err error) {
	var rules, activeID sql.NullString
	var waiting sql.NullInt64
	for name, target := range map[string]sql.Scanner{
		rulesColumn: &rules, activeColumn: &activeID, waitingColumn: &waiting,
	} {
		value, err := i.Value(name)
		if err == nil {
			err = target.Scan(value)
		}
		if err != nil {
			return fmt.Errorf("deployment: %s of %s: %w", name, i.ID, err)
		}
	}

	p.Waiting = int(waiting.Int64)
	if p.Rules, err = rule.Decode(ctx, optional.NonZero(rules.String)); err != nil {
		return err
	}

	if activeID.String != "" {
		p.Active, err = Active(ctx, tx.Deployment, i.ID)
	}
	return err
}

// AsksForStays reports whether one of the rules asks how long something was live elsewhere.
func AsksForStays(rules []gate.Rule) bool {
	return slices.ContainsFunc(rules, func(r gate.Rule) bool {
		_, ok := r.Demand.Kind.(*gate.LiveIn)
		return ok
	})
}

// stayTexts read where deployments that have succeeded were live, since when, until when, and whether the cloud has
// taken them back: the next success of their instance that was made after them, and the first that was started outside
// and succeeded after them, as changedOutside has it; by whether the database is PostgreSQL. SQLite does not know the
// type of a subquery's column, and PostgreSQL would read all deployments to join one.
var stayTexts = map[bool]string{
	false: strings.NewReplacer(
		"{next}", `LEFT JOIN "deployments" AS "n" ON "n"."id" = (SELECT "m"."id" `+nextSuccess+
			`) AND "n"."organization_id" = "p"."organization_id"`,
		"{outside}", `LEFT JOIN "deployments" AS "o" ON "o"."id" = (SELECT "m"."id" `+nextOutside+
			`) AND "o"."organization_id" = "p"."organization_id"`,
	).Replace(stayText),
	true: strings.NewReplacer(
		"{next}", `LEFT JOIN LATERAL (SELECT "m"."completed_at", "m"."live_since" `+nextSuccess+`) AS "n" ON true`,
		"{outside}", `LEFT JOIN LATERAL (SELECT "m"."completed_at" `+nextOutside+`) AS "o" ON true`,
	).Replace(stayText),
}

const nextSuccess = `FROM "deployments" AS "m" WHERE "m"."organization_id" = "p"."organization_id" AND
"m"."module_instance_id" = "p"."module_instance_id"
	AND "m"."status" = 'SUCCEEDED' AND "m"."trigger_source" <> '` + state.TriggerEvent +
	`' AND "m"."created_at" > "p"."created_at"
	ORDER BY "m"."created_at", "m"."id" LIMIT 1`

const nextOutside = `FROM "deployments" AS "m" WHERE "m"."organization_id" = "p"."organization_id" AND
"m"."module_instance_id" = "p"."module_instance_id"
	AND "m"."status" = 'SUCCEEDED' AND "m"."trigger_source" = '` + state.TriggerEvent +
	`' AND "m"."completed_at" > COALESCE("p"."cloud_ended_at",
		CASE WHEN "p"."external_deployment_id" IS NOT NULL THEN "p"."cloud_started_at" END, "p"."completed_at")
	ORDER BY "m"."completed_at" LIMIT 1`

const stayText = `SELECT "p"."id", "p"."environment_id", "p"."completed_at", "p"."live_since", "p"."setbacks",
"n"."completed_at", "n"."live_since",
	"o"."completed_at", "i"."live_deployment_id"
FROM "deployments" AS "p"
JOIN "module_instances" AS "i" ON "i"."id" = "p"."module_instance_id" AND "i"."organization_id" = "p"."organization_id"
{next}
{outside}
WHERE "p"."status" = 'SUCCEEDED' AND `

// Stays returns how long deployments were live that have succeeded, by their ids; by the clock of leases, if they went
// live since that is written down.
func (s *Service) Stays(ctx context.Context, read store.Reader, ids []string) (map[string]*gate.Stay, error) {
	of := map[string]*gate.Stay{}
	text := stayTexts[s.Store.Postgres()] + store.Among(`"p"."id"`, `"p"."organization_id"`, s.Store.Postgres())
	err := read(ctx, text, []any{s.Store.List(ids), store.Scope(actor.From(ctx))}, func(row store.Rows) error {
		var id string
		var live, setbacks *string
		var since, next, nextSince, outside *time.Time
		stay := &gate.Stay{}
		err := row.Scan(&id, &stay.EnvironmentID, &stay.From, &since, &setbacks, &next, &nextSince, &outside, &live)
		if err != nil {
			return err
		}
		stay.From, next = *cmp.Or(since, &stay.From), cmp.Or(nextSince, next)

		known, err := releases.DecodeSetbacks(setbacks)
		if err != nil {
			return err
		}
		stay.TakenBack = releases.Reputation{Setbacks: known}.TakenBack() != nil
		if live == nil || *live != id {
			// If the next is not known, it was live for no time that is known.
			stay.Until = cmp.Or(next, &stay.From)
		}
		if outside != nil && (stay.Until == nil || outside.Before(*stay.Until)) {
			stay.Until = outside
		}
		of[id] = stay
		return nil
	})
	return of, err
}

// StayOf returns how long a deployment was live if one of the rules asks for that, nil if none does and for none.
func (s *Service) StayOf(ctx context.Context, tx *ent.Tx, rules []gate.Rule, deploymentID *string) (*gate.Stay, error) {
	if deploymentID == nil || !AsksForStays(rules) {
		return nil, nil
	}
	of, err := s.Stays(ctx, store.InTx(tx), []string{*deploymentID})
	return of[*deploymentID], err
}

// ReadRules reads the rules that are in force where sources are, by the ids of these: once, however many sources there
// are.
func ReadRules(ctx context.Context, read store.Reader, postgres bool, list []*Source) (map[string][]gate.Rule, error) {
	isRuled := func(from *Source) bool { return from.IsRuled }
	if !slices.ContainsFunc(list, isRuled) {
		return nil, nil
	}
	all, err := rule.All(ctx, read, postgres)
	if err != nil {
		return nil, err
	}

	in, of := map[actor.Place][]gate.Rule{}, map[string][]gate.Rule{}
	for _, from := range list {
		place := actor.Place{ProjectID: from.ProjectID, EnvironmentID: from.EnvironmentID}
		if _, known := in[place]; !known {
			in[place] = rule.In(all, place)
		}
		if len(in[place]) > 0 {
			of[from.ID] = in[place]
		}
	}
	return of, meter.Err(ctx)
}
