// Package deployment puts together the services of deployments, each of which is a package below it.
//
// A deployment ships a release: the inputs and the artifact of one module version, sealed by a digest. It is PENDING
// until a runner claims it, RUNNING under the runner's lease, and ends once, as SUCCEEDED, FAILED or CANCELED. If a
// rule demands approvals, it is AWAITING_APPROVAL first. An instance has at most one deployment that is PENDING or
// RUNNING; the database holds that by a unique index. The last that succeeded is live. A rollback or a redeploy is a
// new deployment that ships the very release of an earlier one.
//
// A deployment is proposed, changed and carried out. No package imports one above it:
//
//	waiting, execution              those that wait for approvals; those that runners carry out
//	propose, transition             a new deployment; a change of one
//	admission                       whether one may be made or started, decided in one place
//	releases, view, figures         what is shipped; what is read; what is counted
//	cloudevents                     what the cloud says
//	runners                         who asks for work
//	state                           the row of a deployment, and what every other package says of it
//
// Every write is one transaction with its audit row. A change compares the version of the deployment, so that of two at
// once the second decides on what the first has done, and leaves a row for those who follow.
package deployment

import (
	"log/slog"
	"time"

	"slipway/internal/data/feed"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/cloudevents"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/figures"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/runners"
	"slipway/internal/service/deployment/transition"
	"slipway/internal/service/deployment/view"
	"slipway/internal/service/deployment/waiting"
	"slipway/internal/service/inputvalidation"
)

// Services are the services of deployments.
type Services struct {
	Releases    *releases.Service
	View        *view.Service
	Figures     *figures.Service
	CloudEvents *cloudevents.Service
	Admission   *admission.Service
	Propose     *propose.Service
	Waiting     *waiting.Service
	Execution   *execution.Service
	Runners     *runners.Service

	deps Deps
}

// Deps is what the services stand on.
type Deps struct {
	Store   *store.Store
	Journal *journal.Journal
	Inputs  *inputvalidation.Service
	// Feed wakes those who follow a deployment, and runners that wait for one, after each change is committed.
	Feed *feed.Feed
	// Log gets a line for events of the cloud that were removed because they fit no deployment, and if it cannot be stored
	// that runners ask for work.
	Log *slog.Logger
	// BaseURL is where the API is reached, for links in errors; without a slash at its end.
	BaseURL string
	// LeaseTime and CancelTimeout are those of execution.Service, 0 for their defaults.
	LeaseTime, CancelTimeout time.Duration
}

// NewServices makes the services, each from those below it.
func NewServices(d Deps) *Services {
	shipped := &releases.Service{Store: d.Store, Journal: d.Journal}
	reads := &view.Service{Store: d.Store, Journal: d.Journal, Releases: shipped, Feed: d.Feed}
	cloud := &cloudevents.Service{Store: d.Store, Journal: d.Journal, Log: d.Log}
	admits := &admission.Service{
		Store: d.Store, Journal: d.Journal, Releases: shipped, View: reads, CloudEvents: cloud, BaseURL: d.BaseURL,
	}
	proposes := &propose.Service{
		Store: d.Store, Journal: d.Journal, Inputs: d.Inputs, Releases: shipped, Admission: admits,
	}
	changes := &transition.Service{Journal: d.Journal, CloudEvents: cloud}

	asks := &runners.Service{Store: d.Store, Journal: d.Journal, Log: d.Log}
	executes := &execution.Service{
		Store: d.Store, Journal: d.Journal, Inputs: d.Inputs, Admission: admits, Propose: proposes, Transition: changes,
		Feed: d.Feed, Asks: asks, LeaseTime: d.LeaseTime, CancelTimeout: d.CancelTimeout,
	}

	return &Services{
		Releases:    shipped,
		View:        reads,
		Figures:     &figures.Service{Store: d.Store, Journal: d.Journal},
		CloudEvents: cloud,
		Admission:   admits,
		Propose:     proposes,
		Waiting: &waiting.Service{
			Store: d.Store, Journal: d.Journal, Releases: shipped, View: reads, Admission: admits, Transition: changes,
			Runners: asks, KillTime: executes.KillTime,
		},
		Execution: executes,
		Runners:   asks,
		deps:      d,
	}
}

// With returns the services over what change makes of what these stand on, with the log and the lease and cancel times
// of these as they are now.
func (s *Services) With(change func(*Deps)) *Services {
	d := s.deps
	d.LeaseTime, d.CancelTimeout, d.Log = s.Execution.LeaseTime, s.Execution.CancelTimeout, s.CloudEvents.Log
	change(&d)
	return NewServices(d)
}
