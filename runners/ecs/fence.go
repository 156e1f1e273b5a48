package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// The tags that say whose a service or a task definition is.
const (
	tagInstance   = "slipway:instance"
	tagDeployment = "slipway:deployment"
	tagFence      = "slipway:fence"
	// tagSince has the service deployment that was the last before the one that tagDeployment is about, "none" for none.
	tagSince = "slipway:since"
	// tagCount has the desired count that Slipway has set last, or unknownCount.
	tagCount = "slipway:desired-count"
	// tagSets has what Slipway has set of what the service also has of others, see sets.
	tagSets = "slipway:sets"
)

// ourTags are how many tags a service gets, of the most that it can have.
const (
	ourTags = 6
	maxTags = 50
)

// fence is the number of a claim, in digits.
type fence string

func (f fence) isNumber() bool {
	return strings.Trim(string(f), "0123456789") == "" // a server from before fences gives none
}

// Compare returns -1, 0 or 1 as a fence is less than, as much as, or greater than another.
func (f fence) Compare(other fence) int {
	a, b := strings.TrimLeft(string(f), "0"), strings.TrimLeft(string(other), "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func tagOf(tags []types.Tag, key string) string {
	for _, t := range tags {
		if text(t.Key) == key {
			return text(t.Value)
		}
	}
	return ""
}

func tag(key, value string) types.Tag { return types.Tag{Key: &key, Value: &value} }

// withTags returns tags with others, which take the place of those of the same key.
func withTags(tags, others []types.Tag) []types.Tag {
	rest := slices.DeleteFunc(slices.Clone(tags), func(t types.Tag) bool {
		return slices.ContainsFunc(others, func(other types.Tag) bool { return text(other.Key) == text(t.Key) })
	})
	return append(rest, others...)
}

// mayChange reads the service, and returns an error where somebody else has it: a later deployment, another instance,
// or whoever made it, unless it is to be adopted. It is asked before each change. That is no lock: between this answer
// and the change another program may come.
func (w *worker) mayChange(ctx context.Context) (*types.Service, error) {
	service, err := w.service(ctx)
	if err != nil || service == nil {
		return nil, err
	}
	d, owner, theirs := w.Deployment, tagOf(service.Tags, tagInstance), fence(tagOf(service.Tags, tagFence))
	switch {
	case owner == "" && !w.wants().Adopt:
		return nil, fmt.Errorf("the service %s is there and Slipway has not made it: give it another name, or set the input "+
			"adopt to take it over",
			text(service.ServiceArn))
	case owner != "" && owner != d.ModuleInstanceID:
		return nil, fmt.Errorf("the service %s belongs to the module instance %s, and this is %s: give it another name",
			text(service.ServiceArn), owner, d.ModuleInstanceID)
	case theirs.Compare(d.Fence) > 0:
		return nil, fmt.Errorf("a later deployment has the service: its fence is %s, and that of this deployment %s; "+
			"nothing more is changed", theirs, d.Fence)
	}
	return service, deployable(service)
}

// deployable returns an error for a service that is not deployed by ECS itself, or not by a count of tasks.
func deployable(s *types.Service) error {
	const remedy = "choose another service_name, or delete the service in ECS first"
	if c := s.DeploymentController; c != nil && c.Type != types.DeploymentControllerTypeEcs {
		return fmt.Errorf("the service %s has the deployment controller %s, and must have ECS: %s",
			text(s.ServiceArn), c.Type, remedy)
	}
	if s.SchedulingStrategy == types.SchedulingStrategyDaemon {
		return fmt.Errorf("the service %s has the scheduling strategy %s, and must have REPLICA: %s",
			text(s.ServiceArn), s.SchedulingStrategy, remedy)
	}
	return nil
}

// beforeChange is mayChange for a change that need not be: it returns errStopped once the program is to end.
func (w *worker) beforeChange(ctx context.Context) (*types.Service, error) {
	if w.stopping() {
		return nil, fmt.Errorf("%w before the service deployment began; a task definition may be registered, and the "+
			"service is as it was", errStopped)
	}
	return w.mayChange(ctx)
}
