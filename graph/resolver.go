// Package graph joins the schema to the services: a resolver reads its arguments, calls one service
// method and names the result.
package graph

import (
	"context"
	"net/http"
	"time"

	"slipway/internal/service/account"
	"slipway/internal/service/archive"
	"slipway/internal/service/catalog"
	"slipway/internal/service/defaults"
	"slipway/internal/service/deployment"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/service/inputvalidation/valuesource"
	"slipway/internal/service/rule"
	"slipway/internal/service/workspace"
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
