// Package waiting has the deployments that wait for approvals: who approves and rejects them, which approvals count, how they start and
// expire.
package waiting

import (
	"slipway/internal/deployment/admission"
	"slipway/internal/deployment/releases"
	"slipway/internal/deployment/transition"
	"slipway/internal/deployment/view"
	"slipway/internal/journal"
	"slipway/internal/store"
)

// Service changes and reads deployments that wait for approvals.
type Service struct {
	Store      *store.Store
	Journal    *journal.Journal
	Releases   *releases.Service
	View       *view.Service
	Admission  *admission.Service
	Transition *transition.Service
}
