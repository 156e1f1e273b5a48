package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/internal/test/fake"
)

// runsOn returns by what the tasks of the one service run.
func runsOn(w *world) string {
	s := w.cloud.Services()[0]
	all := []string{string(s.LaunchType)}
	for _, p := range s.CapacityProviderStrategy {
		all = append(all, fmt.Sprintf("%s:%d:%d", *p.CapacityProvider, p.Base, p.Weight))
	}
	return strings.TrimSpace(strings.Join(all, " "))
}

func spot() []any {
	return []any{map[string]any{"provider": "FARGATE", "base": 1, "weight": 1}, map[string]any{"provider": "FARGATE_SPOT", "weight": 3}}
}

func TestTasksRunByTheCapacityProvidersThatAreNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, then map[string]any
		want        string
	}{
		"from the first on":                     {map[string]any{"capacity_providers": spot()}, map[string]any{"capacity_providers": spot()}, "FARGATE:1:1 FARGATE_SPOT:0:3"},
		"later on":                              {nil, map[string]any{"capacity_providers": spot()}, "FARGATE:1:1 FARGATE_SPOT:0:3"},
		"others":                                {map[string]any{"capacity_providers": spot()}, map[string]any{"capacity_providers": []any{map[string]any{"provider": fake.Machines}}}, "machines:0:1"},
		"no more":                               {map[string]any{"capacity_providers": spot()}, nil, "FARGATE"},
		"no more, with the launch type instead": {map[string]any{"capacity_providers": spot()}, map[string]any{"launch_type": "FARGATE"}, "FARGATE"},
		"never":                                 {nil, nil, "FARGATE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.first)
			w.mustDeploy("dep_1", 1)
			for input := range c.first {
				delete(w.inputs, input)
			}
			for input, value := range c.then {
				w.inputs[input] = value
			}
			w.inputs["image"] = "web:2"
			w.mustDeploy("dep_2", 2)
			if got := runsOn(w); got != c.want {
				t.Errorf("the tasks run by %s, want %s", got, c.want)
			}
		})
	}
}

func TestCapacityProvidersThatSlipwayHasNotSetAreKept(t *testing.T) {
	t.Parallel()
	w := adopting(t, map[string]any{"launch_type": "FARGATE"})
	w.theirs(func(in *ecs.CreateServiceInput) {
		in.LaunchType, in.DeploymentConfiguration.LifecycleHooks = "", nil
		in.CapacityProviderStrategy = []types.CapacityProviderStrategyItem{{CapacityProvider: aws.String("FARGATE_SPOT"), Weight: 1}}
	})
	e := w.mustDeploy("dep_1", 1)
	if got := runsOn(w); got != "FARGATE_SPOT:0:1" || !e.said("The service keeps its capacity providers, which Slipway has not set. The input launch_type is FARGATE;") {
		t.Errorf("the tasks run by %s; it said %v", got, e.events)
	}
}

func TestCapacityProvidersThatECSDoesNotTakeAreWrongInputs(t *testing.T) {
	t.Parallel()
	const at = "/release/inputs/capacity_providers"
	one := func(members map[string]any) []any { return []any{members} }
	for want, inputs := range map[string]map[string]any{
		"/release/inputs/launch_type must be left out with capacity_providers, found \"FARGATE\"": {"launch_type": "FARGATE", "capacity_providers": spot()},
		at + "/0/provider must be there":                          {"capacity_providers": one(map[string]any{})},
		at + "/0/weight must be 0 to 1000, found 1001":            {"capacity_providers": one(map[string]any{"provider": "a", "weight": 1001})},
		at + "/0/base must be 0 to 100000, found -1":              {"capacity_providers": one(map[string]any{"provider": "a", "base": -1})},
		at + "/1/provider must be there once, found \"a\" again":  {"capacity_providers": []any{map[string]any{"provider": "a"}, map[string]any{"provider": "a"}}},
		at + " must have one with a base at most, found 2":        {"capacity_providers": []any{map[string]any{"provider": "a", "base": 1}, map[string]any{"provider": "b", "base": 1}}},
		at + " must have one whose weight is more than 0":         {"capacity_providers": one(map[string]any{"provider": "a", "weight": 0})},
		at + " must have those of Fargate alone, or none of them": {"capacity_providers": []any{map[string]any{"provider": "FARGATE"}, map[string]any{"provider": "b"}}},
		at + " must have at most 20, found 21":                    {"capacity_providers": make([]any, 21)},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, inputs)
			refusedAtFirst(t, w, w.deploy("dep_1", 1), 2, want)
		})
	}
}
