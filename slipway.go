// Package slipway is the root of the module, and has the contract of the GraphQL API; the program is in
// cmd/slipway.
package slipway

import _ "embed" // for the schema

// Schema is schema.graphql.
//
//go:embed schema.graphql
var Schema []byte
