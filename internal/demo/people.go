package demo

import (
	"context"

	"slipway/internal/base/actor"
	"slipway/internal/service/account"
)

// The people of the organization, by the names of their tokens.
const (
	admin     = "ada"
	developer = "maya"
	pipeline  = "release-pipeline"
	runner    = "runner-eu-west-1"
	watcher   = "status-board"
	root      = "platform-team"
)

// people are who acts in the demo. The result shows the first token of each role.
var people = []struct {
	name    string
	role    actor.Role
	channel actor.Channel
}{
	{watcher, actor.Viewer, actor.REST},
	{developer, actor.Developer, actor.GraphQL},
	{pipeline, actor.Developer, actor.REST},
	{admin, actor.Admin, actor.GraphQL},
	{runner, actor.Runner, actor.GraphQL},
	{root, actor.Superadmin, actor.GraphQL},
}

// bootstrap is who makes the organization and its tokens: the command line.
func bootstrap() *actor.Actor {
	return &actor.Actor{Name: "demo", Role: actor.System, Channel: actor.CLI}
}

// organization comes first: if there is one already, nothing else is written.
func (d *demo) organization(ctx context.Context) error {
	made, err := d.Accounts.CreateOrganization(actor.With(ctx, bootstrap()), d.Organization.Name, d.Organization.Slug)
	if err != nil {
		return err
	}
	d.result.OrganizationID = made.ID
	return nil
}

// people makes the tokens by the accounts of the real clock: they are handed out today.
func (d *demo) people(ctx context.Context, accounts *account.Service) error {
	d.actors, d.result.Tokens = map[string]*actor.Actor{}, map[actor.Role]string{}
	for _, p := range people {
		by := bootstrap()
		if p.role != actor.Superadmin {
			by = by.In(d.result.OrganizationID)
		}
		made, secret, err := accounts.CreateToken(actor.With(ctx, by), account.NewToken{Name: p.name, Role: p.role})
		if err != nil {
			return err
		}

		d.actors[p.name] = account.ActorOf(made).Via(p.channel)
		if p.role == actor.Superadmin { // who makes the global modules
			d.actors[p.name] = d.actors[p.name].InGlobal()
		}
		if d.result.Tokens[p.role] == "" {
			d.result.Tokens[p.role] = secret.Reveal()
		}
	}

	d.result.runner = d.actors[runner]
	return nil
}
