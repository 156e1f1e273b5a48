package e2e_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
)

func TestARollbackLeavesTheCountOfAutoscaling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("web", nil)
	first := w.mustDeploy("web")
	w.mustDeploy("web", "--set", "image=web:2")
	if err := w.cloud.UpdateOutside(&ecs.UpdateServiceInput{Service: aws.String("web"), DesiredCount: aws.Int32(10)}); err != nil {
		t.Fatal(err)
	}
	w.slipway("rollback", "shop/prod/web", "--to", fmt.Sprint(first["id"]), "--yes", "--timeout", "60s")
	if got := w.cloud.Services()[0].DesiredCount; got != 10 {
		t.Errorf("the desired count is %d, want 10", got)
	}
}

// The module names nothing of a service that nobody has given.
func TestTheModuleLeavesTheCountToTheService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("web", map[string]any{"count": nil})
	w.mustDeploy("web")
	if s := w.cloud.Services()[0]; s.DesiredCount != 1 || s.LaunchType != "FARGATE" {
		t.Errorf("a new service has %d tasks by %s", s.DesiredCount, s.LaunchType)
	}
	if err := w.cloud.UpdateOutside(&ecs.UpdateServiceInput{Service: aws.String("web"), DesiredCount: aws.Int32(4)}); err != nil {
		t.Fatal(err)
	}
	w.mustDeploy("web", "--set", "image=web:2", "--set", `capacity_providers=[{"provider": "FARGATE_SPOT"}]`)
	if s := w.cloud.Services()[0]; s.DesiredCount != 4 || aws.ToString(s.CapacityProviderStrategy[0].CapacityProvider) != "FARGATE_SPOT" {
		t.Errorf("it has %d tasks by %v", s.DesiredCount, s.CapacityProviderStrategy)
	}
}
