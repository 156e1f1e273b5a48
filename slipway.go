// Package slipway is the root of the module, and has the contract of the GraphQL API; the program is in
// cmd/slipway.
package slipway

import _ "embed" // for the schema

// Schema is schema.graphql.
//
//go:embed schema.graphql
var Schema []byte

// Everything that is generated, in the order in which it has to be. gqlgen binds the schema's fields to those of the
// entities: if it runs before ent, a field whose column is new gets a resolver that panics.

//go:generate go tool ent generate --feature intercept,sql/execquery,sql/modifier,sql/versioned-migration --template dir=ent/template --target ent ./ent/schema
//go:generate go run ./graph/plan/plangen/cmd/gqlgen
//go:generate go tool genqlient internal/remote/client/genqlient.yaml
//go:generate go tool genqlient conformance/genqlient/genqlient.yaml
//go:generate go run ./internal/base/fault/cmd/errordocs docs/errors.md
//go:generate go run ./internal/remote/cli/cmd/clidocs docs/cli.md
//go:generate go run ./internal/pure/inputprop/cmd/inputschema docs/input-property.schema.json
//go:generate go -C .ci/pictures run . ../../docs/images
