package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"slipway-ecs/internal/test/fake"
)

func TestATrialShowsWhatIsDifferent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, pkg := range map[string]string{"trial": ".", "slipway-ecs": "../../.."} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	write := func(name, group, other, rule string) {
		inputs, err := json.Marshal(map[string]any{
			"service_name": "trial", "cluster_arn": fake.Cluster, "image": "web:1", "size": map[string]any{"cpu": 256, "memory": 512}, "count": 1,
			"container_port": 80, "subnet_ids": []string{"subnet-1"}, "strategy": "CANARY", "canary_percent": 10, "canary_minutes": 1, "bake_minutes": 1,
			"target_group_arn": group, "alternate_target_group_arn": other, "listener_rule_arn": rule, "balancer_role_arn": "arn:aws:iam::123456789012:role/ecs",
		})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), inputs, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("application.json", fake.BlueTargetGroup, fake.GreenTargetGroup, fake.Rule)
	write("network.json", fake.NetworkBlueTargetGroup, fake.NetworkGreenTargetGroup, fake.NetworkListener)
	for _, c := range []struct {
		name, inputs string
		change       func(fake.Call) fake.Verdict
		code         int
		want         string
	}{
		{"the same", "application.json", nil, 0, "  statuses: the same\n"},
		{"the same by a Network Load Balancer", "network.json", nil, 0, "  stages: the same\n"},
		{"another", "application.json", func(c fake.Call) fake.Verdict {
			if c.Operation == "StopServiceDeployment" {
				return fake.Verdict{Code: "AccessDeniedException", Message: "no"}
			}
			return fake.Verdict{}
		}, 3, "  statuses:\n    fake     "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			account := fake.New()
			defer account.Close()
			account.Intercept = c.change
			trial := exec.Command(filepath.Join(dir, "trial"), "-poll", "5ms", "-inputs", filepath.Join(dir, c.inputs), "-program", filepath.Join(dir, "slipway-ecs"))
			trial.Env = append(account.Env(), "PATH="+os.Getenv("PATH"), "HOME="+dir)
			out, _ := trial.CombinedOutput()
			if trial.ProcessState.ExitCode() != c.code || !strings.Contains(string(out), c.want) {
				t.Errorf("it ended with %d: %s", trial.ProcessState.ExitCode(), out)
			}
			if n := len(account.Services()) + len(account.TaskDefinitions()); n != 0 {
				t.Errorf("%d services and task definitions are left: %s", n, out)
			}
		})
	}
}
