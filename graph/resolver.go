// Package graph joins the schema to the services: a resolver reads its arguments, calls one service
// method and names the result.
package graph

import (
	"slipway/internal/account"
	"slipway/internal/catalog"
	"slipway/internal/defaults"
	"slipway/internal/deployment"
	"slipway/internal/dynamic"
	"slipway/internal/inputs"
	"slipway/internal/workspace"
)

// Resolver has the services that the resolvers call.
type Resolver struct {
	Accounts  *account.Service
	Workspace *workspace.Service
	Catalog   *catalog.Service
	Defaults  *defaults.Service
	Deploy    *deployment.Service
	Dynamic   *dynamic.Registry
	Inputs    *inputs.Service
}
