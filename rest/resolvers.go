package rest

import (
	"context"

	"slipway/ent"
	"slipway/ent/moduledefinition"
	"slipway/graph/model"
	"slipway/internal/page"
)

// Queries are the resolver methods that the reading operations call.
type Queries interface {
	// ModuleDefinitions gives a page of the catalogue: the errors are those of the cursors and sizes.
	ModuleDefinitions(ctx context.Context, status *moduledefinition.Status, typeArg, search *string,
		first *int32, after *string, last *int32, before *string) (*page.ModuleDefinitionConnection, error)
	// Deployment gives one deployment, or DeploymentNotFound.
	Deployment(ctx context.Context, id string) (*ent.Deployment, error)
}

// Mutations are the resolver methods that the writing operations call.
type Mutations interface {
	// UpdateDefaultValueDefinition gives every violation at once, DefaultValueDefinitionNotFound,
	// …Forbidden, RequestPreconditionFailed and …RuleBroken.
	UpdateDefaultValueDefinition(ctx context.Context, input model.UpdateDefaultValueDefinitionInput) (*model.UpdateDefaultValueDefinitionPayload, error)
	// RollbackDeployment gives the refusals of a replay.
	RollbackDeployment(ctx context.Context, input model.RollbackDeploymentInput) (*model.RollbackDeploymentPayload, error)
	// RedeployDeployment gives the refusals of a replay.
	RedeployDeployment(ctx context.Context, input model.RedeployDeploymentInput) (*model.RedeployDeploymentPayload, error)
}
