package main_test

import (
	"fmt"
	"testing"
)

func TestARollingDeploymentIsFollowedToItsSuccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	e := w.mustDeploy("dep_1", 1)
	own := w.cloud.Deployments()[0]
	for name, want := range map[string]string{
		"serviceDeploymentArn": *own.ServiceDeploymentArn, "serviceArn": *own.ServiceArn, "clusterArn": *own.ClusterArn, "ecsModuleDeploymentId": "dep_1",
	} {
		if e.data[name] != want {
			t.Errorf("%s is %v, want %s", name, e.data[name], want)
		}
	}
	if got := fmt.Sprint(e.values("status")); got != "[IN_PROGRESS SUCCESSFUL]" {
		t.Errorf("its statuses are %s", got)
	}
	if got := fmt.Sprint(e.values("targetServiceRevision", "runningTaskCount")); got != "[0 1 2]" {
		t.Errorf("so many tasks ran: %s", got)
	}
	if len(w.cloud.Services()) != 1 || w.cloud.Calls("CreateService") != 1 || w.cloud.Calls("UpdateService") != 0 {
		t.Errorf("%d services", len(w.cloud.Services()))
	}
}
