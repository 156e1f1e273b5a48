// Package execution carries deployments out: runners claim them, hold a lease, report and end them; and each end is
// settled, with what it makes live, what it supersedes, and the rollback that a failure makes.
package execution

import (
	"time"

	"slipway/internal/data/feed"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/runners"
	"slipway/internal/service/deployment/transition"
	"slipway/internal/service/inputvalidation"
)

// Service has runners carry out deployments.
type Service struct {
	Store      *store.Store
	Journal    *journal.Journal
	Inputs     *inputvalidation.Service
	Admission  *admission.Service
	Propose    *propose.Service
	Transition *transition.Service
	// Feed tells runners that wait for work, and those who follow a log, of what was committed.
	Feed *feed.Feed
	// Asks hears of each runner that asks for work, for those who want to know why a deployment waits.
	Asks *runners.Service
	// LeaseTime is how long a lease lasts unless it is renewed; DefaultLease if it is 0.
	LeaseTime time.Duration
	// CancelTimeout is how long a program may take to end once its cancellation was requested; DefaultCancelTimeout if it
	// is 0.
	CancelTimeout time.Duration
	// Runners, unless it is nil, hears of each runner that asks for work, for the metrics of this server.
	Runners *Runners
}
