// Package server puts the services together and serves them: GraphQL, REST, the explorer and, on a
// listener of its own, health.
package server

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"slipway/ent"
	"slipway/ent/deploymentchange"
	"slipway/graph"
	"slipway/internal/base/id"
	"slipway/internal/base/jsregexp"
	"slipway/internal/data/feed"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputrules"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/service/account"
	"slipway/internal/service/archive"
	"slipway/internal/service/catalog"
	"slipway/internal/service/defaults"
	"slipway/internal/service/deployment"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/service/inputvalidation/valuesource"
	"slipway/internal/service/retention"
	"slipway/internal/service/rule"
	"slipway/internal/service/workspace"
)

// Services are the services over one store.
type Services struct {
	Journal   *journal.Journal
	Accounts  *account.Service
	Workspace *workspace.Service
	Archive   *archive.Service
	Catalog   *catalog.Service
	Defaults  *defaults.Service
	Deploy    *deployment.Services
	Rules     *rule.Service
	Retention *retention.Service
	Sources   *valuesource.Service
	Inputs    *inputvalidation.Service
}

// NewServices makes the services, each from what stands below it. baseURL is where the API is reached, for links in
// errors.
func NewServices(s *store.Store, log *slog.Logger, now func() time.Time, baseURL string) *Services {
	changes := feed.New(s, log)
	j := journal.New(s, now, id.New)
	j.Changed = func(d *ent.Deployment, _ deploymentchange.Kind) { changes.Changed(d) }
	schemas := &inputvalidation.SchemaChecker{
		Store: s, Rules: inputrules.NewEngine(patterns()), Engine: inputvalues.NewEngine(patterns()),
	}
	definitions := &defaults.Reader{Store: s}
	places := &workspace.Service{Store: s, Journal: j}
	modules := &catalog.Service{Store: s, Journal: j, Schemas: schemas}

	sources := &valuesource.Service{Catalog: modules, Workspace: places, Definitions: definitions}
	inputs := &inputvalidation.Service{
		SchemaChecker: schemas, Catalog: modules, Definitions: definitions, Sources: sources,
	}

	deploy := deployment.NewServices(deployment.Deps{
		Store: s, Journal: j, Inputs: inputs, Feed: changes, Log: log, BaseURL: baseURL,
	})
	return &Services{
		Journal:   j,
		Accounts:  &account.Service{Store: s, Journal: j, Now: now, Log: log},
		Workspace: places,
		Archive:   &archive.Service{Store: s, Journal: j},
		Catalog:   modules,
		Defaults:  &defaults.Service{Reader: definitions, Journal: j, Schemas: schemas, Impacts: inputs},
		Deploy:    deploy,
		Rules:     &rule.Service{Store: s, Journal: j},
		Retention: &retention.Service{Store: s, Journal: j, Deploy: deploy},
		Sources:   sources,
		Inputs:    inputs,
	}
}

// machines is how many regular expressions run at once. A pattern that hangs has one of them for as long
// as a match may take.
const machines = 4

// patterns returns the process's engine for regular expressions: it keeps what it has compiled.
var patterns = sync.OnceValue(func() *jsregexp.Engine {
	engine, err := jsregexp.New(machines)
	if err != nil {
		panic(fmt.Errorf("server: regular expressions: %w", err))
	}
	return engine
})

// Resolver returns the resolvers over the services, which GraphQL and REST share.
func (s *Services) Resolver() *graph.Resolver {
	return &graph.Resolver{
		Accounts:  s.Accounts,
		Workspace: s.Workspace,
		Archive:   s.Archive,
		Catalog:   s.Catalog,
		Defaults:  s.Defaults,
		Deploy:    s.Deploy,
		Rules:     s.Rules,
		Sources:   s.Sources,
		Inputs:    s.Inputs,
	}
}
