package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/sdkjson"
)

// notes returns what a person should know before the service is changed: what becomes of one that is taken over, and
// that a count is not set.
func (p *plan) notes(live *types.Service, definition *types.TaskDefinition) (notes []string) {
	if p.takesOver {
		notes = append(notes, fmt.Sprintf("Taking over the service changes its task definition from %s to %s.",
			text(live.TaskDefinition), text(definition.TaskDefinitionArn)))
		is, becomes := p.shown(live)
		for _, name := range slices.Sorted(maps.Keys(becomes)) {
			if is[name] != becomes[name] {
				notes = append(
					notes, fmt.Sprintf("Taking over the service changes %s from %s to %s.", name, is[name], becomes[name]),
				)
			}
		}
	}

	if p.count.kept {
		notes = append(notes, fmt.Sprintf("The service keeps its desired count of %d, which Slipway has not set. "+
			"The input count is %s; it is set once it names another number.", live.DesiredCount, p.count.tag))
	}

	if p.ignored != "" {
		notes = append(notes, fmt.Sprintf("The service keeps its capacity providers, which Slipway has not set. "+
			"The input launch_type is %s; name capacity_providers to change them.", p.ignored))
	}

	return notes
}

// shown returns what a service has and what it gets, as JSON by the names of ECS. Both have the same names.
func (p *plan) shown(live *types.Service) (is, becomes map[string]string) {
	after := *live
	after.LoadBalancers, after.NetworkConfiguration = p.balancers, p.network
	after.DeploymentConfiguration = p.configuration
	if p.capacity != nil {
		after.CapacityProviderStrategy = p.capacity
	}
	if p.grace != nil {
		after.HealthCheckGracePeriodSeconds = p.grace
	}
	is, becomes = settingsOf(live), settingsOf(&after)
	for _, other := range []map[string]string{is, becomes} {
		for name := range other {
			is[name], becomes[name] = cmp.Or(is[name], "nothing"), cmp.Or(becomes[name], "nothing")
		}
	}
	return is, becomes
}

// settingsOf returns the settings of a service that a plan can change, each as JSON.
func settingsOf(s *types.Service) map[string]string {
	parts := []any{struct {
		LoadBalancers                 []types.LoadBalancer
		CapacityProviderStrategy      []types.CapacityProviderStrategyItem
		HealthCheckGracePeriodSeconds *int32
	}{s.LoadBalancers, s.CapacityProviderStrategy, s.HealthCheckGracePeriodSeconds}}

	if s.NetworkConfiguration != nil && s.NetworkConfiguration.AwsvpcConfiguration != nil {
		parts = append(parts, *s.NetworkConfiguration.AwsvpcConfiguration)
	}
	if s.DeploymentConfiguration != nil {
		parts = append(parts, *s.DeploymentConfiguration)
	}

	all := map[string]string{}
	for _, part := range parts {
		for name, value := range sdkjson.Of(part).(map[string]any) {
			text, err := json.Marshal(value)
			if err != nil {
				panic(err) // what the SDK has read can be encoded
			}
			if string(text) != "[]" {
				all[name] = string(text)
			}
		}
	}

	return all
}
