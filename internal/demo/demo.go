// Package demo fills a database with an organization for demonstrations: modules with their inputs, projects and
// environments, and some weeks of deployments (Seed). It also plays the runner that carries out what a visitor deploys
// (Run). It calls the same services as the API.
package demo

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/server"
	"slipway/internal/service/deployment"
	"slipway/web"
)

// Result has the ids and tokens of a demo database.
type Result struct {
	// OrganizationID and Slug name the organization.
	OrganizationID, Slug string
	// Tokens has the text of a token for each role: the organization's viewer, developer, admin and runner, and
	// superadmin, whose token belongs to no organization.
	Tokens map[actor.Role]string
	// Examples are requests for the explorer; the first runs as it stands, without variables.
	Examples []web.Example
	// LiveDeploymentID is a deployment that is live, RollbackTargetID an earlier one of the same instance
	// that can be rolled back to, and FailedDeploymentID one of another instance that can be redeployed.
	LiveDeploymentID, RollbackTargetID, FailedDeploymentID string
	// FollowedDeploymentID is a deployment that Run keeps running and reports on until it is canceled, so that there
	// is always one to follow.
	FollowedDeploymentID string
	// AwaitingDeploymentID is a deployment that waits for an approval, which anybody with the admin's or the developer's
	// token can give.
	AwaitingDeploymentID string
	// ArchivedInstanceID is a module instance that is archived.
	ArchivedInstanceID string
	// DefaultValueDefinitionID is a definition of a number.
	DefaultValueDefinitionID string

	// runner is the actor that has carried out the deployments.
	runner *actor.Actor
}

// weeks is how far the history goes back.
const weeks = 4

// leaseTime is longer than a demo lasts whose deployments nobody carries out.
const leaseTime = 366 * 24 * time.Hour

// Seed fills a migrated database. It creates the tokens with the given services, and the other records with services of
// its own on the same store, whose clock goes through the last weeks. The errors are those of the services:
// OrganizationSlugTaken, before anything is written, if the database is filled already, and ModuleDefinitionTypeTaken
// if there is a global module of a type that the demo has.
func Seed(ctx context.Context, s *server.Services, st *store.Store, log *slog.Logger) (*Result, error) {
	begun := time.Now()
	content, err := readContent()
	if err != nil {
		return nil, err
	}
	c := &clock{at: store.Now().Add(-weeks * 7 * 24 * time.Hour)}
	d := &demo{
		Services: server.NewServices(st, log, c.Now, ""),
		content:  content,

		environments: map[string]string{},
		clock:        c,
		chance:       chance{rand.New(rand.NewPCG(1, 2))}, //nolint:gosec // the same content each time is the point
		result:       &Result{Slug: content.Organization.Slug},
	}
	d.Deploy = d.Deploy.With(func(deps *deployment.Deps) {
		deps.Journal = journal.NewAlone(st, c.Now, id.New)
		deps.LeaseTime = leaseTime // nobody renews leases while the clock jumps
	})
	for _, step := range []func(context.Context) error{
		d.organization,
		func(ctx context.Context) error { return d.people(ctx, s.Accounts) },
		d.modules,
		d.definitions,
		d.places,
		d.history,
		d.control,
		d.examples,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	log.InfoContext(ctx, "the demo data is ready", "organization", d.result.Slug, "deployments", d.deployments,
		"took", time.Since(begun).Round(time.Millisecond))
	return d.result, nil
}

// demo is the state of Seed.
type demo struct {
	*server.Services
	chance
	content
	clock  *clock
	result *Result

	// actors has the actors of the tokens, by name.
	actors map[string]*actor.Actor
	// published has the modules by their type.
	published map[string]*published
	// environments has the ids of the environments by their place, which is project/environment.
	environments map[string]string
	// services has the instances of container services, in the order of demo.json.
	services []*service
	// deployments is how many were created.
	deployments int
}

// as returns a context in which one of the people is the actor, by the channel that they use.
func (d *demo) as(ctx context.Context, name string) context.Context {
	return actor.With(ctx, d.actors[name])
}
