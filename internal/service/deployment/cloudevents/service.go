// Package cloudevents brings the deployments of a service up to what the cloud says of it: it takes the events, finds
// the owner of a service and the deployment that an event is about, and records what was started outside.
package cloudevents

import (
	"log/slog"

	"slipway/internal/data/journal"
	"slipway/internal/data/store"
)

// Service takes events of the cloud.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
	// Log gets a line for events of the cloud that were removed because they fit no deployment.
	Log *slog.Logger
}
