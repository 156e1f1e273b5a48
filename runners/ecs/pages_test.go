package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// many registers task definitions of a family as somebody else does.
func many(t *testing.T, w *world, family string, n int) (last string) {
	t.Helper()
	for range n {
		out, err := clientOf(t, w).RegisterTaskDefinition(t.Context(), &ecs.RegisterTaskDefinitionInput{
			Family: &family, NetworkMode: types.NetworkModeAwsvpc, Memory: aws.String("512"),
			ContainerDefinitions: []types.ContainerDefinition{{Name: aws.String("app"), Image: aws.String("other")}},
		})
		if err != nil {
			t.Fatal(err)
		}
		last = *out.TaskDefinition.TaskDefinitionArn
	}
	return last
}

// What a program looks for may be behind any page; of load balancers all tests have one item on each.
func TestEveryPageIsRead(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 3, 100} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.cloud.Page = size
			w.mustDeploy("dep_1", 1)
			others := many(t, w, "main-web", 5)
			many(t, w, "main-web-2", 5) // its name only begins so
			w.inputs["image"] = "web:2"
			w.mustDeploy("dep_2", 2)
			for range 22 { // more than are described at once
				if err := w.cloud.UpdateOutside(&ecs.UpdateServiceInput{Service: aws.String("web"), TaskDefinition: &others, ForceNewDeployment: true}); err != nil {
					t.Fatal(err)
				}
			}
			w.mustDeploy("dep_2", 2) // finds its own behind all of these
			if n := len(w.cloud.Deployments()); n != 24 {
				t.Errorf("there are %d service deployments, want 24", n)
			}
			w.inputs["image"] = "web:3"
			w.mustDeploy("dep_3", 3)
			if e := w.destroy("dep_4", 4); e.code != 0 || len(w.cloud.Services()) != 0 || len(w.cloud.TaskDefinitions()) != 10 {
				t.Errorf("it ended with %d: %s; %d task definitions are left, want the 10 of somebody else", e.code, e.stderr, len(w.cloud.TaskDefinitions()))
			}
		})
	}
}

func TestAListWithoutEndIsGivenUp(t *testing.T) {
	t.Parallel()
	for operation, list := range map[string]string{
		"ListServiceDeployments": "service deployments", "DescribeRules": "listener rules", "ListTaskDefinitions": "task definitions of the family main-web",
	} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shifting("BLUE_GREEN", nil))
			w.mustDeploy("dep_1", 1)
			calls := w.cloud.Calls(operation)
			w.cloud.Endless = operation
			w.inputs["image"] = "web:2"
			e := w.deploy("dep_2", 2)
			if e.code != 1 || !strings.HasSuffix(e.stderr, "there are more than 200 pages of "+list) {
				t.Errorf("it ended with %d: %s", e.code, e.stderr)
			}
			if n := w.cloud.Calls(operation) - calls; n != 200 {
				t.Errorf("%d pages were asked for, want 200", n)
			}
		})
	}
}
