package actor

import "slices"

// Scope is the part of an organization that a token may change: the named projects with all of their environments,
// also future ones, the named environments of any project, and the named module definitions, whose versions may be
// published. A Scope that names nothing contains nothing; a nil Scope is the whole organization. It is a union of its
// lists, so that to name more never allows less, and "all of a project, and one environment of another" can be said.
type Scope struct {
	// All are ids.
	Projects          []string `json:"projects"`
	Environments      []string `json:"environments"`
	ModuleDefinitions []string `json:"moduleDefinitions,omitempty"`
}

// Place is where in an organization a record is. A record of a project has no EnvironmentID, a module definition and
// its versions have ModuleDefinitionID alone, and what the whole organization shares has none of them.
type Place struct{ ProjectID, EnvironmentID, ModuleDefinitionID string }

// Has reports whether a place is within the scope.
func (s *Scope) Has(p Place) bool {
	return s == nil ||
		p.ProjectID != "" && slices.Contains(s.Projects, p.ProjectID) ||
		p.EnvironmentID != "" && slices.Contains(s.Environments, p.EnvironmentID) ||
		p.ModuleDefinitionID != "" && slices.Contains(s.ModuleDefinitions, p.ModuleDefinitionID)
}

// IDs returns all ids of the scope: of projects, environments and module definitions.
func (s *Scope) IDs() []string { return slices.Concat(s.Projects, s.Environments, s.ModuleDefinitions) }
