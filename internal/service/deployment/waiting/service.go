// Package waiting has the deployments that wait for approvals: who approves and rejects them, which approvals count,
// how they start and expire.
package waiting

import (
	"time"

	"slipway/ent"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/runners"
	"slipway/internal/service/deployment/transition"
	"slipway/internal/service/deployment/view"
)

// Service changes and reads deployments that wait for approvals.
type Service struct {
	Store      *store.Store
	Journal    *journal.Journal
	Releases   *releases.Service
	View       *view.Service
	Admission  *admission.Service
	Transition *transition.Service
	Runners    *runners.Service
	// KillTime returns when the program of a deployment whose cancellation was requested is to be killed.
	KillTime func(*ent.Deployment) time.Time
}
