package actor

import "slices"

// Scope is the part of an organization that a token may change: the named projects with all of their environments,
// also future ones, and the named environments of any project. A Scope that names nothing contains nothing; a nil Scope
// is the whole organization. It is a union of both lists, so that to name more never allows less, and "all of a
// project, and one environment of another" can be said.
type Scope struct {
	// Projects and Environments are ids.
	Projects     []string `json:"projects"`
	Environments []string `json:"environments"`
}

// Place is where in an organization a record is. A record of a project has no EnvironmentID, and one of the whole
// organization has neither id.
type Place struct{ ProjectID, EnvironmentID string }

// Has reports whether a place is within the scope.
func (s *Scope) Has(p Place) bool {
	return s == nil ||
		p.ProjectID != "" && slices.Contains(s.Projects, p.ProjectID) ||
		p.EnvironmentID != "" && slices.Contains(s.Environments, p.EnvironmentID)
}
