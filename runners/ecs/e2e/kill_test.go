package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// without returns inputs without the pauses.
func without() map[string]any {
	inputs := map[string]any{}
	for id, value := range shifting {
		if !strings.HasPrefix(id, "pause_") {
			inputs[id] = value
		}
	}
	return inputs
}

// under returns a world with a deployment that is held up while its traffic shifts, and what its command ends with.
func under(t *testing.T, args ...string) (w *world, g *gate, ended chan int) {
	t.Helper()
	w = newWorld(t)
	w.instance("web", without())
	w.mustDeploy("web")
	g = newGate("PRODUCTION_TRAFFIC_SHIFT")
	w.cloud.Intercept = g.intercept
	ended = make(chan int, 1)
	go func() {
		_, code := w.deploy("web", append([]string{"--set", "image=web:2"}, args...)...)
		ended <- code
	}()
	g.wait(t)
	return w, g, ended
}

// checkGone destroys the instance twice, and checks that nothing is left.
func checkGone(t *testing.T, w *world, name string) {
	t.Helper()
	w.slipway("destroy", "shop/prod/"+name, "--yes", "--timeout", "60s")
	if services, definitions := w.cloud.Services(), w.cloud.TaskDefinitions(); len(services)+len(definitions) != 0 {
		t.Errorf("%d services and %d task definitions are left behind", len(services), len(definitions))
	}
	if out, code := w.try("destroy", "shop/prod/"+name, "--yes"); code != 5 || !strings.Contains(out, "NOTHING_LIVE") {
		t.Errorf("destroyed twice: %d: %s", code, out)
	}
}

func TestADeploymentGoesOnWhereTheRunnerOrTheServerIsKilled(t *testing.T) {
	t.Parallel()
	for victim, strike := range map[string]func(*world){
		"the runner": func(w *world) { kill(w.runner); w.startRunner() },
		"the server": func(w *world) { kill(w.server); w.startServer() },
		"both":       func(w *world) { kill(w.runner); kill(w.server); w.startServer(); w.startRunner() },
	} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			w, g, ended := under(t)
			strike(w)
			close(g.release)
			if code := <-ended; code != 0 {
				t.Errorf("it ended with %d: %v", code, w.last("web"))
			}
			d, truth := w.last("web"), w.cloud.Deployments()
			state := d["dataJson"].(map[string]any)["serviceDeploymentState"].(map[string]any)
			if d["status"] != "SUCCEEDED" || state["status"] != "SUCCESSFUL" || len(truth) != 2 || d["outputs"] == nil {
				t.Errorf("it is %s and %s, with %d service deployments and the outputs %v", d["status"], state["status"], len(truth), d["outputs"])
			}
			checkGone(t, w, "web")
		})
	}
}

func TestAProgramThatIsKilledFailsAndTheNextDeploymentSupersedesIt(t *testing.T) {
	t.Parallel()
	w, g, ended := under(t)
	if err := syscall.Kill(programOf(t, w), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	close(g.release)
	if code := <-ended; code != 6 {
		t.Errorf("it ended with %d: %v", code, w.last("web"))
	}
	d := w.mustDeploy("web", "--set", "image=web:3")
	truth := w.cloud.Deployments()
	if len(w.cloud.Services()) != 1 || len(truth) != 3 || truth[1].Status != "STOPPED" ||
		d["dataJson"].(map[string]any)["serviceDeploymentArn"] != *truth[2].ServiceDeploymentArn {
		t.Errorf("%d services, %d service deployments; the deployment is %v", len(w.cloud.Services()), len(truth), d)
	}
	checkGone(t, w, "web")
}

// programOf returns the process id of the program that runs against the account.
func programOf(t *testing.T, w *world) int {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range processes {
		environ, err := os.ReadFile(file)
		program, linkErr := os.Readlink(filepath.Join(filepath.Dir(file), "exe"))
		if err != nil || linkErr != nil || program != filepath.Join(bin, "slipway-ecs") || !strings.Contains(string(environ), w.cloud.URL) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	t.Fatal("the program does not run")
	return 0
}

func TestACanceledDeploymentIsRolledBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("web", shifting)
	w.cloud.Intercept = answerPauses(w, func(int) bool { return true }, func() {})
	w.mustDeploy("web")
	g := newGate("POST_TEST_TRAFFIC_SHIFT") // where it waits for somebody who never comes
	w.cloud.Intercept = g.intercept
	ended := make(chan int, 1)
	go func() {
		_, code := w.deploy("web", "--set", "image=web:2")
		ended <- code
	}()
	g.wait(t)
	w.slipway("cancel", fmt.Sprint(w.last("web")["id"]))
	w.cloud.Tick = 0 // while it is held up, nobody reads it
	close(g.release)
	code := <-ended
	d, truth := w.last("web"), w.cloud.Deployments()
	if code != 6 || d["status"] != "CANCELED" || truth[1].Status != "ROLLBACK_SUCCESSFUL" {
		t.Errorf("it ended with %d as %s, and the service deployment is %s: %v", code, d["status"], truth[1].Status, d["error"])
	}
	if said := w.slipway("logs", fmt.Sprint(d["id"])); !strings.Contains(said, "the deployment was stopped: the service deployment ") {
		t.Errorf("it says %s", said)
	}
	checkGone(t, w, "web")
}

func TestWhatECSHasRolledBackIsNoSuccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("web", nil)
	live := w.mustDeploy("web")
	out, code := w.deploy("web", "--set", "image=web:broken")
	d := w.last("web")
	if code != 6 || d["status"] != "FAILED" || d["outputs"] != nil || !strings.Contains(fmt.Sprint(d["error"]), "ended as ROLLBACK_SUCCESSFUL") {
		t.Errorf("it ended with %d as %s: %v %s", code, d["status"], d["error"], out)
	}
	if got := d["dataJson"].(map[string]any)["previousTaskDefinition"]; fmt.Sprint(got) != fmt.Sprint(live["dataJson"].(map[string]any)["deployedTaskDefinition"]) {
		t.Errorf("before it %v was live", got)
	}
	w.slipway("rollback", "shop/prod/web", "--to", fmt.Sprint(live["id"]), "--yes", "--timeout", "60s")
	checkGone(t, w, "web")
}
