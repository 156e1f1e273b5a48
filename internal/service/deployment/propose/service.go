// Package propose makes deployments: it turns a request to create, promote, roll back, redeploy or destroy into a
// proposal, shows that as a plan, or has it admitted and writes it.
package propose

import (
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/inputvalidation"
)

// Service makes and plans deployments.
type Service struct {
	Store     *store.Store
	Journal   *journal.Journal
	Inputs    *inputvalidation.Service
	Releases  *releases.Service
	Admission *admission.Service
}
