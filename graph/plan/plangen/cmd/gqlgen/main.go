// Command gqlgen runs gqlgen as gqlgen.yml of the working directory says, with the plugin that writes the table of
// plans.
package main

import (
	"log"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"

	"slipway/graph/plan/plangen"
)

func main() {
	c, err := config.LoadConfigFromDefaultLocations()
	if err != nil {
		log.Fatal(err)
	}
	plans := plangen.Plugin{
		Filename: "graph/generated/plan.go", Around: "internal/test/resolvertest/resolvers.go",
		Prompt: []string{"DeploymentChange", "LogBatch"},
	}
	if err := api.Generate(c, api.AddPlugin(plans)); err != nil {
		log.Fatal(err)
	}
}
