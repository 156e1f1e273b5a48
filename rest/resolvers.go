package rest

import (
	"context"

	"slipway/graph/model"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
)

// Queries are the resolver methods that the reading operations call.
type Queries interface {
	// ModuleDefinitions returns a page of the catalogue; its errors are those of cursors and sizes.
	ModuleDefinitions(
		ctx context.Context, filter *model.ModuleDefinitionFilter, orderBy model.ListOrder,
		first *int32, after *string, last *int32, before *string,
	) (*page.ModuleDefinitionConnection, error)
	// Deployment returns one deployment, or DeploymentNotFound.
	Deployment(ctx context.Context, id string) (*record.Deployment, error)
}

// Mutations are the resolver methods that the writing operations call.
type Mutations interface {
	// UpdateDefaultValueDefinition returns the changed definition. Its errors have every violation at once:
	// RequestInvalid, DefaultValueDefinitionNotFound, …Forbidden, …RuleBroken and RequestPreconditionFailed.
	UpdateDefaultValueDefinition(
		ctx context.Context, input model.UpdateDefaultValueDefinitionInput,
	) (*model.UpdateDefaultValueDefinitionPayload, error)
	// RollbackDeployment returns the deployment that was created, or why the earlier one cannot be rolled back to.
	RollbackDeployment(ctx context.Context, input model.RollbackDeploymentInput) (*model.RollbackDeploymentPayload, error)
	// RedeployDeployment returns the deployment that was created, or why the earlier one cannot be redeployed.
	RedeployDeployment(ctx context.Context, input model.RedeployDeploymentInput) (*model.RedeployDeploymentPayload, error)
}

// Integrations take what other systems send. GraphQL has none of it.
type Integrations interface {
	// ReceiveECSEvent takes an event of the cloud's container service. Its errors are RequestInvalid, with every
	// violation, and DeploymentForbidden.
	ReceiveECSEvent(ctx context.Context, event *strictjson.Node) error
}
