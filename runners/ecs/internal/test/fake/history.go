package fake

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// Record is a service deployment with all that the account knows of it.
type Record struct {
	types.ServiceDeployment
	// ExternalID is what events call it.
	ExternalID string
	Definition Definition
	// LoadBalancers are those of the revision that it brings.
	LoadBalancers []types.LoadBalancer
	// Tags are those that the service had when it began.
	Tags []types.Tag
	// Looks are what DescribeServiceDeployments has shown of it, in order, without answers that were lost.
	Looks []Look
	// Events are those that were sent of it, in order.
	Events []Event
	// Before and After are what the load balancers did when it began, and when it ended.
	Before, After []Route
	// Accepted is the last pause that somebody has let continue, nil for none.
	Accepted *Pause
	// BackToExternalID is what events call the deployment whose revision it goes back to, and BackToArn its service
	// deployment.
	BackToExternalID, BackToArn string
}

// Look is a service deployment as it was shown.
type Look struct {
	At time.Time
	types.ServiceDeployment
}

// Pause is a pause that somebody has let continue.
type Pause struct {
	HookID, Stage   string
	Began, Accepted time.Time
}

// shown returns the service deployment as it is now.
func (d *deployment) shown() types.ServiceDeployment {
	shown, target := d.ServiceDeployment, *d.TargetServiceRevision
	shown.TargetServiceRevision = &target
	shown.SourceServiceRevisions = slices.Clone(shown.SourceServiceRevisions)
	shown.LifecycleHookDetails = slices.Clone(shown.LifecycleHookDetails)
	return shown
}

// History returns the service deployments of all services that there ever were, in the order in which they began.
func (c *Cloud) History() (all []Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.deployments {
		r := Record{
			ServiceDeployment: d.shown(), ExternalID: d.target.externalID, Definition: d.definition.Definition, Tags: d.tags,
			LoadBalancers: d.target.LoadBalancers,
			Looks:         slices.Clone(d.looks), Events: slices.Clone(d.events), Before: d.before, After: d.after,
			Accepted: d.accepted,
		}
		if d.backTo != nil {
			r.BackToExternalID, r.BackToArn = d.backTo.externalID, deref(d.backTo.deploymentArn)
		}
		all = append(all, r)
	}
	return all
}
