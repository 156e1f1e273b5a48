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

// The records that are read with some of their columns.
type (
	Project                ent.Project
	Environment            ent.Environment
	ModuleDefinition       ent.ModuleDefinition
	ModuleVersion          ent.ModuleVersion
	ModuleInstance         ent.ModuleInstance
	Release                ent.Release
	Deployment             ent.Deployment
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
