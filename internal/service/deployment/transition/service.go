// Package transition changes one deployment: it compares the version, so that of two changes at once the second decides
// on what the first has done, and has the events of its service follow.
package transition

import (
	"slipway/internal/data/journal"
	"slipway/internal/service/deployment/cloudevents"
)

// Service makes transitions.
type Service struct {
	Journal     *journal.Journal
	CloudEvents *cloudevents.Service
}
