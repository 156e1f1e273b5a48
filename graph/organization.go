package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/store"
)

const organizationArgument = "organizationId"

// inOrganization lets a superadmin act in the organization that the root fields' organizationId names.
// It is one for the whole operation. Others may name their own and no other.
func (r *Resolver) inOrganization(ctx context.Context) (context.Context, error) {
	named, err := organizationOf(graphql.GetOperationContext(ctx))
	if err != nil || named == "" {
		return ctx, err
	}
	a := actor.From(ctx)
	if a.IsAnonymous() {
		return ctx, access.Check(a, access.Read, fault.RequestForbidden)
	}
	if !a.IsSuperadmin() {
		if named == a.OrganizationID {
			return ctx, nil
		}
		return ctx, store.Missing(named, fault.OrganizationNotFound)
	}
	if _, err := r.Accounts.OrganizationByID(ctx, named); err != nil {
		return ctx, err
	}
	return actor.With(ctx, a.In(named)), nil
}

// organizationOf gives the organization that an operation names, "" where it names none.
func organizationOf(oc *graphql.OperationContext) (string, error) {
	root := map[string]string{"query": "Query", "mutation": "Mutation", "subscription": "Subscription"}[string(oc.Operation.Operation)]
	named := ""
	for _, field := range graphql.CollectFields(oc, oc.Operation.SelectionSet, []string{root}) {
		args := field.ArgumentMap(oc.Variables)
		if input, ok := args["input"].(map[string]any); ok {
			args = input
		}
		organization, _ := args[organizationArgument].(string)
		if organization == "" {
			continue
		}
		if named != "" && named != organization {
			return "", fault.New(fault.RequestInvalid, "organizationId must be the same for every field of an operation.")
		}
		named = organization
	}
	return named, nil
}
