// Package view has what is read of deployments and changes nothing: lists and counts, those who follow, logs, outputs,
// lineages, and what could be promoted.
package view

import (
	"slipway/internal/data/feed"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/releases"
)

// Service reads deployments.
type Service struct {
	Store    *store.Store
	Journal  *journal.Journal
	Releases *releases.Service
	// Feed wakes those who follow a deployment, after each change is committed.
	Feed *feed.Feed
}
