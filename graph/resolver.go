// Package graph joins the schema to the services: a resolver reads its arguments, calls one service
// method and names the result.
package graph

import (
	"context"
	"net/http"
	"time"

	"slipway/internal/account"
	"slipway/internal/archive"
	"slipway/internal/catalog"
	"slipway/internal/defaults"
	"slipway/internal/deployment"
	"slipway/internal/inputvalidation"
	"slipway/internal/inputvalidation/valuesource"
	"slipway/internal/rule"
	"slipway/internal/workspace"
)

// Resolver has the services that the resolvers call.
type Resolver struct {
	Accounts  *account.Service
	Workspace *workspace.Service
	Archive   *archive.Service
	Catalog   *catalog.Service
	Defaults  *defaults.Service
	Deploy    *deployment.Services
	Rules     *rule.Service
	Sources   *valuesource.Service
	Inputs    *inputvalidation.Service
	// Wait waits for an operation, whose request had the header, as stream.Streams does.
	Wait func(ctx context.Context, h http.Header, atMost time.Duration, changed <-chan struct{}) (bool, error)
}
