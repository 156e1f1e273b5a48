package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/intercept"
	"slipway/internal/base/actor"
)

// Class is who may see and write the rows of a table.
type Class string

const (
	// Owned rows are seen and written by their organization.
	Owned Class = "owned"
	// Shared rows are an organization's, or everybody's to read where they have none.
	Shared Class = "shared"
	// Control rows have no filter: by them it is known whose a request is.
	Control Class = "control"
)

// Classes has the class of every entity. What is not listed can be neither read nor written.
var Classes = map[string]Class{
	ent.TypeOrganization:           Control,
	ent.TypeToken:                  Control,
	ent.TypeChore:                  Control,
	ent.TypeProject:                Owned,
	ent.TypeEnvironment:            Owned,
	ent.TypeModuleDefinition:       Shared,
	ent.TypeModuleVersion:          Shared,
	ent.TypeModuleInstance:         Owned,
	ent.TypeRelease:                Owned,
	ent.TypeDeployment:             Owned,
	ent.TypeDefaultValueDefinition: Owned,
	ent.TypeDefinitionUse:          Owned,
	ent.TypeDeploymentChange:       Owned,
	ent.TypeDeploymentLog:          Owned,
	ent.TypeDeploymentOutput:       Owned,
	ent.TypeDeploymentReference:    Owned,
	ent.TypeGivenInput:             Owned,
	ent.TypeQuarantine:             Owned,
	ent.TypeIdempotencyKey:         Owned,
	ent.TypeInputBaseline:          Owned,
	ent.TypeCloudEvent:             Owned,
	ent.TypeCloudService:           Owned,
	ent.TypeAuditEvent:             Owned,
	ent.TypeRule:                   Owned,
	ent.TypeApproval:               Owned,
	ent.TypeRunnerAsk:              Owned,
}

// GlobalScope is the scope of a superadmin, or of the system, without an organization: what it writes to
// shared tables is everybody's, so that a superadmin has to have named it.
const GlobalScope = actor.Global

var errNoActor = errors.New("store: no actor in the context")

// Scope returns the organization that the actor acts in, GlobalScope, or "" for callers who own nothing.
func Scope(a *actor.Actor) string {
	if a.OrganizationID == "" && (a.IsSuperadmin() || a.Role == actor.System) {
		return GlobalScope
	}
	return a.OrganizationID
}

func scopeOf(ctx context.Context) (string, error) {
	a := actor.From(ctx)
	if a == nil {
		return "", errNoActor
	}
	return Scope(a), nil
}

const organizationColumn = "organization_id"

// tenancyFilter binds every query to the actor's scope. It also turns off DISTINCT, which fails on
// PostgreSQL's json columns and would merge equal rows on SQLite.
func tenancyFilter() ent.Interceptor {
	return ent.TraverseFunc(func(ctx context.Context, query ent.Query) error {
		scope, err := scopeOf(ctx)
		if err != nil {
			return err
		}

		q, err := intercept.NewQuery(query)
		if err != nil {
			return err
		}
		q.Unique(false)

		switch Classes[q.Type()] {
		case Owned:
			q.WhereP(ofOrganization(scope))
		case Shared:
			q.WhereP(sql.OrPredicates(sql.FieldEQ(organizationColumn, scope), sql.FieldIsNull(organizationColumn)))
		case Control:
		default:
			return fmt.Errorf("store: %s has no tenancy class", q.Type())
		}
		return nil
	})
}

// requireTx is the hook that refuses writes outside a transaction: database/sql may run one whose answer was lost
// again.
func requireTx(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
		t, ok := m.(interface{ Tx() (*ent.Tx, error) })
		if !ok {
			return nil, fmt.Errorf("store: %T knows no transaction", m)
		}
		if _, err := t.Tx(); err != nil {
			return nil, fmt.Errorf("store: write outside a transaction: %w", err)
		}
		return next.Mutate(ctx, m)
	})
}

// bindWrites is the hook that binds every write to the actor's scope.
func bindWrites(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
		scope, err := scopeOf(ctx)
		if err != nil {
			return nil, err
		}

		class, ok := Classes[m.Type()]
		switch {
		case !ok:
			return nil, fmt.Errorf("store: %s has no tenancy class", m.Type())
		case class == Control:
		case class == Shared && scope == GlobalScope && namesNoScope(actor.From(ctx)):
			return nil, fmt.Errorf("store: %s written by a superadmin who has named neither an organization nor %s",
				m.Type(), GlobalScope)
		case m.Op().Is(ent.OpCreate):
			if owner := ownerOf(m, class); owner != scope {
				return nil, fmt.Errorf("store: %s of %q created in the scope %q", m.Type(), owner, scope)
			}
		default:
			if err := bind(m, class, scope); err != nil {
				return nil, err
			}
		}

		return next.Mutate(ctx, m)
	})
}

// namesNoScope reports whether the actor is a superadmin who has not named GlobalScope.
func namesNoScope(a *actor.Actor) bool { return a.IsSuperadmin() && !a.Globally }

// ownerOf returns the organization that a mutation sets, GlobalScope for none of a shared table.
func ownerOf(m ent.Mutation, class Class) string {
	v, set := m.Field(organizationColumn)
	if owner, ok := v.(string); set && ok {
		return owner
	}
	if class == Shared {
		return GlobalScope
	}
	return ""
}

// bind adds the condition to a mutation that its rows are of the scope.
func bind(m ent.Mutation, class Class, scope string) error {
	w, ok := m.(interface{ WhereP(...func(*sql.Selector)) })
	if !ok {
		return fmt.Errorf("store: %T takes no condition", m)
	}
	if class == Shared && scope == GlobalScope {
		w.WhereP(sql.FieldIsNull(organizationColumn))
		return nil
	}
	w.WhereP(ofOrganization(scope))
	return nil
}

// ofOrganization is that a row is an organization's, in the words of Owner; owned is the same of any column.
func ofOrganization(scope string) func(*sql.Selector) {
	return func(s *sql.Selector) {
		s.Where(owned(s.Dialect(), s.C(organizationColumn), scope))
	}
}

func owned(name, column, scope string) *sql.Predicate {
	return sql.P(func(b *sql.Builder) {
		before, after, _ := strings.Cut(Owner(column, name == dialect.Postgres), "?")
		b.WriteString(before).Arg(scope).WriteString(after)
	})
}

// Owner returns the condition that a column has the organization of an argument. SQLite keeps no statistics, so it is
// told that a tenth of all rows may fulfill it. Otherwise it takes an organization for ten rows, and reads all of them
// to find those of a list of ids.
func Owner(column string, postgres bool) string {
	if postgres {
		return column + " = ?"
	}
	return "likelihood(" + column + " = ?, 0.1)"
}
