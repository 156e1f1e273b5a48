package actor

import "slices"

// Scope is the part of an organization that a token may change: the named projects with all of their environments,
// those to come among them, and the named environments of any project. One that names nothing has no place in it.
// A nil Scope is the whole organization.
type Scope struct {
	// Projects and Environments are ids.
	Projects     []string `json:"projects"`
	Environments []string `json:"environments"`
}

// Place is where something is: in an environment of a project. What belongs to the project has no environment, and
// what all of an organization shares has neither.
type Place struct{ ProjectID, EnvironmentID string }

// Has reports whether a place is within the scope.
func (s *Scope) Has(p Place) bool {
	return s == nil ||
		p.ProjectID != "" && slices.Contains(s.Projects, p.ProjectID) ||
		p.EnvironmentID != "" && slices.Contains(s.Environments, p.EnvironmentID)
}
