// Package server puts the services together and serves them: GraphQL, REST, the explorer and, on a
// listener of its own, health.
package server

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"slipway/graph"
	"slipway/internal/account"
	"slipway/internal/catalog"
	"slipway/internal/defaults"
	"slipway/internal/deployment"
	"slipway/internal/feed"
	"slipway/internal/id"
	"slipway/internal/inputrules"
	"slipway/internal/inputvalidation"
	"slipway/internal/inputvalidation/valuesource"
	"slipway/internal/inputvalues"
	"slipway/internal/journal"
	"slipway/internal/jsregexp"
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
	Dynamic   *valuesource.Registry
	Inputs    *inputvalidation.Service
}

// NewServices makes the services. baseURL is where the API is reached, for links in errors.
func NewServices(s *store.Store, log *slog.Logger, now func() time.Time, baseURL string) *Services {
	j := journal.New(s, now, id.New)
	all := &Services{
		Accounts:  &account.Service{Store: s, Journal: j, Now: now, Log: log},
		Workspace: &workspace.Service{Store: s, Journal: j},
		Catalog:   &catalog.Service{Store: s, Journal: j},
		Defaults:  &defaults.Service{Store: s, Journal: j},
	}
	all.Dynamic = valuesource.New(all.Catalog, all.Workspace, all.Defaults)
	all.Inputs = &inputvalidation.Service{
		Store: s, Engine: inputvalues.NewEngine(patterns()), Rules: inputrules.NewEngine(patterns()), Catalog: all.Catalog, Defaults: all.Defaults, Dynamic: all.Dynamic,
	}
	// What is saved is judged by what the server knows, which is read through these two.
	all.Catalog.Rules, all.Defaults.Rules = all.Inputs, all.Inputs
	all.Deploy = &deployment.Service{Store: s, Journal: j, Inputs: all.Inputs, Feed: &feed.Feed{}, BaseURL: baseURL}
	return all
}

// machines is how many regular expressions run at once. A pattern that hangs has one of them for as long
// as a match may take.
const machines = 4

// patterns gives the process's engine for regular expressions: it keeps what it has compiled.
var patterns = sync.OnceValue(func() *jsregexp.Engine {
	engine, err := jsregexp.New(machines)
	if err != nil {
		panic(fmt.Errorf("server: regular expressions: %w", err))
	}
	return engine
})

// Resolver gives the resolvers over the services, which GraphQL and REST share.
func (s *Services) Resolver() *graph.Resolver {
	return &graph.Resolver{
		Accounts:  s.Accounts,
		Workspace: s.Workspace,
		Catalog:   s.Catalog,
		Defaults:  s.Defaults,
		Deploy:    s.Deploy,
		Dynamic:   s.Dynamic,
		Inputs:    s.Inputs,
	}
}
