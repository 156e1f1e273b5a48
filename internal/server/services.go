// Package server puts the services together and serves them: GraphQL, REST, the explorer and, on a
// listener of its own, health.
package server

import (
	"log/slog"
	"time"

	"slipway/graph"
	"slipway/internal/account"
	"slipway/internal/catalog"
	"slipway/internal/defaults"
	"slipway/internal/deployment"
	"slipway/internal/id"
	"slipway/internal/journal"
	"slipway/internal/store"
	"slipway/internal/workspace"
)

// Services are the services over one store.
type Services struct {
	Accounts  *account.Service
	Workspace *workspace.Service
	Catalog   *catalog.Service
	Defaults  *defaults.Service
	Deploy    *deployment.Service
}

// NewServices makes the services. baseURL is where the API is reached, for links in errors.
func NewServices(s *store.Store, log *slog.Logger, now func() time.Time, baseURL string) *Services {
	j := journal.New(s, now, id.New)
	return &Services{
		Accounts:  &account.Service{Store: s, Journal: j, Now: now, Log: log},
		Workspace: &workspace.Service{Store: s, Journal: j},
		Catalog:   &catalog.Service{Store: s, Journal: j},
		Defaults:  &defaults.Service{Store: s, Journal: j},
		Deploy:    &deployment.Service{Store: s, Journal: j, BaseURL: baseURL},
	}
}

// Resolver gives the resolvers over the services, which GraphQL and REST share.
func (s *Services) Resolver() *graph.Resolver {
	return &graph.Resolver{
		Accounts:  s.Accounts,
		Workspace: s.Workspace,
		Catalog:   s.Catalog,
		Defaults:  s.Defaults,
		Deploy:    s.Deploy,
	}
}
