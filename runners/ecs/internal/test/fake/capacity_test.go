package fake_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/internal/test/fake"
)

func providers(items ...types.CapacityProviderStrategyItem) []types.CapacityProviderStrategyItem {
	return items
}

func provider(name string, weight, base int32) types.CapacityProviderStrategyItem {
	return types.CapacityProviderStrategyItem{CapacityProvider: &name, Weight: weight, Base: base}
}

func TestACapacityProviderStrategyThatECSDoesNotTakeIsRefused(t *testing.T) {
	t.Parallel()
	for reason, strategy := range map[string][]types.CapacityProviderStrategyItem{
		"at most 20":                   slices.Repeat(providers(provider("FARGATE", 1, 0)), 21),
		"was not found in the cluster": providers(provider("unknown", 1, 0)),
		"is there twice":               providers(provider("FARGATE", 1, 0), provider("FARGATE", 1, 0)),
		"A weight must be":             providers(provider("FARGATE", 1001, 0)),
		"A base must be":               providers(provider("FARGATE", 1, 100001)),
		"Only one capacity provider":   providers(provider("FARGATE", 1, 1), provider("FARGATE_SPOT", 1, 1)),
		"weight greater than 0":        providers(provider("FARGATE", 0, 1), provider("FARGATE_SPOT", 0, 0)),
		"cannot be in one strategy":    providers(provider("FARGATE", 1, 0), provider(fake.Machines, 1, 0)),
		"":                             providers(provider("FARGATE", 1, 1), provider("FARGATE_SPOT", 3, 0)),
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			a := newAccount(t)
			in := newService("other")
			in.LaunchType, in.CapacityProviderStrategy = "", strategy
			_, err := a.CreateService(t.Context(), in)
			_, updateErr := a.UpdateService(t.Context(), &ecs.UpdateServiceInput{
				Service: aws.String("web"), Cluster: aws.String(fake.Cluster), CapacityProviderStrategy: strategy,
			})
			if reason == "" {
				if err != nil || updateErr != nil {
					t.Errorf("what ECS takes was refused: %v, %v", err, updateErr)
				}
				return
			}
			refused(t, err, "InvalidParameterException", reason)
			refused(t, updateErr, "InvalidParameterException", reason)
		})
	}
}
