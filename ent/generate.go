// Package ent is generated from schema/; only this file, schema/ and the migrations are written by hand.
package ent

//go:generate go tool ent generate --feature intercept,sql/execquery,sql/modifier,sql/versioned-migration --target . ./schema
