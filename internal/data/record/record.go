// Package record reads the records that answers are made of: one by its id, several by their ids, a page of a list, a
// page of each of several lists, and how many there are. Every such read is made here.
//
// A statement is bound to the organization of the actor in the context, by the class of its table (store.Classes); its
// text is written once for its table, its columns and the texts of its conditions.
//
// A record that is read for a GraphQL operation has the columns that the operation asks for (see Columns), and nothing
// in its other fields. That is why records are types of their own: a rule that takes an entity of ent's, all of whose
// fields have been read, cannot be given a record. An entity becomes a record by a conversion, (*Deployment)(d); there
// is no way back.
package record

import "slipway/ent"

type (
	// Project is a project, of which some columns have been read.
	Project ent.Project
	// Environment is an environment, of which some columns have been read.
	Environment ent.Environment
	// ModuleDefinition is a module definition, of which some columns have been read.
	ModuleDefinition ent.ModuleDefinition
	// ModuleVersion is a version of a module, of which some columns have been read.
	ModuleVersion ent.ModuleVersion
	// ModuleInstance is an instance of a module, of which some columns have been read.
	ModuleInstance ent.ModuleInstance
	// Release is a release, of which some columns have been read.
	Release ent.Release
	// Deployment is a deployment, of which some columns have been read.
	Deployment ent.Deployment
	// DefaultValueDefinition is a default value definition, of which some columns have been read.
	DefaultValueDefinition ent.DefaultValueDefinition
)

// Of returns a list of entities as records.
func Of[R, E any](entities []*E, record func(*E) *R) []*R {
	records := make([]*R, len(entities))
	for i, e := range entities {
		records[i] = record(e)
	}
	return records
}

// ByKey returns records by a key of theirs.
func ByKey[T any, K comparable](list []*T, keyOf func(*T) K) map[K]*T {
	of := make(map[K]*T, len(list))
	for _, r := range list {
		of[keyOf(r)] = r
	}
	return of
}
