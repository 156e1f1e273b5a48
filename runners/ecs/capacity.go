package main

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

func (p capacityProvider) weight() int32 {
	if p.Weight == nil {
		return 1
	}
	return *p.Weight
}

func (p capacityProvider) isFargate() bool { return isFargate(p.Provider) }

func isFargate(provider string) bool { return strings.HasPrefix(provider, "FARGATE") }

// capacity returns by which capacity providers the tasks run, nil for what the service has.
func (in *wanted) capacity(before sets) []types.CapacityProviderStrategyItem {
	if len(in.CapacityProviders) == 0 && !before.has(setCapacity) {
		return nil
	}
	strategy := []types.CapacityProviderStrategyItem{} // an empty one leads back to the launch type
	for _, p := range in.CapacityProviders {
		strategy = append(
			strategy, types.CapacityProviderStrategyItem{CapacityProvider: &p.Provider, Weight: p.weight(), Base: p.Base},
		)
	}
	return strategy
}

// compatibilities returns for what the task definition is registered. Nobody but its cluster knows what a capacity
// provider that is not of Fargate stands for.
func (in *wanted) compatibilities(live *types.Service) []types.Compatibility {
	strategy := in.capacity(nil)
	if strategy == nil && in.LaunchType == "" {
		strategy = live.CapacityProviderStrategy
	}
	isOther := func(i types.CapacityProviderStrategyItem) bool { return !isFargate(text(i.CapacityProvider)) }
	if slices.ContainsFunc(strategy, isOther) {
		return nil
	}
	if len(strategy) > 0 {
		return []types.Compatibility{types.CompatibilityFargate}
	}
	return []types.Compatibility{types.Compatibility(in.launchType(live))}
}

// launchType returns that of the tasks of a service without capacity providers.
func (in *wanted) launchType(live *types.Service) types.LaunchType {
	switch {
	case in.LaunchType != "":
		return types.LaunchType(in.LaunchType)
	case live.LaunchType != "":
		return live.LaunchType
	default:
		return types.LaunchTypeFargate
	}
}
