package main

import (
	"context"
	"embed"

	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/server"
	"slipway/internal/service/workspace"
	"slipway/web"
)

// first has the requests that make the first things, each with its variables. Ids that only an earlier answer has are
// written as prj_… and the like.
//
//go:embed first
var first embed.FS

// firstExamples returns those requests for the explorer, in the order in which each takes what those before it have
// made.
func firstExamples() ([]web.Example, error) {
	var list []web.Example
	for _, e := range []struct{ name, file string }{
		{"1. Create a project", "project"},
		{"2. Create an environment", "environment"},
		{"3. Create a module", "module"},
		{"4. Publish a version of it", "version"},
		{"5. Create an instance", "instance"},
		{"6. Deploy", "deployment"},
	} {
		query, err := first.ReadFile("first/" + e.file + ".graphql")
		if err != nil {
			return nil, err
		}
		variables, err := first.ReadFile("first/" + e.file + ".json")
		if err != nil {
			return nil, err
		}

		list = append(list, web.Example{Name: e.name, Query: string(query), Variables: string(variables), Tab: true})
	}
	return list, nil
}

// standing is what a database has before it is served.
type standing struct {
	// organizations reports whether there is any.
	organizations bool
	// projects reports whether the only organization has one, or there are several organizations.
	projects bool
}

func standingOf(ctx context.Context, services *server.Services) (s standing, err error) {
	a := &actor.Actor{Name: "serve", Role: actor.System, Channel: actor.CLI}
	list, err := services.Accounts.AllOrganizations(actor.With(ctx, a))
	if err != nil || len(list) == 0 {
		return s, err
	}
	s = standing{organizations: true, projects: true}
	if len(list) == 1 {
		ctx := actor.With(ctx, a.In(list[0].ID))
		projects, err := services.Workspace.Projects(ctx, workspace.ProjectFilter{}, page.Args{First: new(int32(1))})
		if err != nil {
			return s, err
		}
		s.projects = len(projects.Edges) > 0
	}
	return s, nil
}
