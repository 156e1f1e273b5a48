// Package ent is generated from schema/ by make generate; only this file, schema/ and the migrations are written by
// hand.
package ent
