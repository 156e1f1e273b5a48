// Package admission decides whether a deployment may be made or started: a proposal with all that decides on it, and
// the one judgment that every mutation, plan and eligibility asks.
package admission

import (
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/cloudevents"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/view"
)

// Service judges proposals.
type Service struct {
	Store       *store.Store
	Journal     *journal.Journal
	Releases    *releases.Service
	View        *view.Service
	CloudEvents *cloudevents.Service
	// BaseURL is where the API is reached, for links in errors; without a slash at its end.
	BaseURL string
}
