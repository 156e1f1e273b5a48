package fake

import "github.com/aws/aws-sdk-go-v2/service/ecs/types"

// The most that a capacity provider strategy may have.
const (
	maxProviders = 20
	maxWeight    = 1000
	maxBase      = 100000
)

// Machines is a capacity provider of the cluster beside those of Fargate: an Auto Scaling group.
const Machines = "machines"

func checkCapacity(strategy []types.CapacityProviderStrategyItem) error {
	if len(strategy) > maxProviders {
		return invalid(
			"A capacity provider strategy can have at most %d capacity providers, found %d.", maxProviders, len(strategy),
		)
	}

	based, weight, fargate := 0, int32(0), 0
	seen := map[string]bool{}
	for _, p := range strategy {
		name := deref(p.CapacityProvider)
		switch {
		case name != "FARGATE" && name != "FARGATE_SPOT" && name != Machines:
			return invalid("The specified capacity provider %q was not found in the cluster.", name)
		case seen[name]:
			return invalid("The capacity provider %s is there twice.", name)
		case p.Weight < 0 || p.Weight > maxWeight:
			return invalid("A weight must be 0 to %d, found %d.", maxWeight, p.Weight)
		case p.Base < 0 || p.Base > maxBase:
			return invalid("A base must be 0 to %d, found %d.", maxBase, p.Base)
		}

		seen[name] = true
		weight += p.Weight
		if p.Base > 0 {
			based++
		}
		if name != Machines {
			fargate++
		}
	}

	switch {
	case based > 1:
		return invalid("Only one capacity provider can have a base defined.")
	case len(strategy) > 0 && weight == 0:
		return invalid("At least one capacity provider must have a weight greater than 0.")
	case fargate > 0 && fargate < len(strategy):
		return invalid("Capacity providers of Fargate and of Auto Scaling groups cannot be in one strategy.")
	}

	return nil
}
