package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway-ecs/internal/test/fake"
	"slipway-ecs/internal/test/truth"
)

// binary is the program as it is built.
var binary string

func TestMain(m *testing.M) { os.Exit(built(m)) }

func built(m *testing.M) int {
	dir, err := os.MkdirTemp("", "slipway-ecs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	sources, err := filepath.Glob("*.go")
	if err != nil {
		panic(err)
	}
	for _, file := range sources { // so that go test knows that its result depends on the program
		if _, err := os.Stat(file); err != nil {
			panic(err)
		}
	}
	binary = filepath.Join(dir, "slipway-ecs")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	return m.Run()
}

// world is an account, and an instance of the module that is deployed to it.
type world struct {
	t        *testing.T
	cloud    *fake.Cloud
	instance string
	inputs   map[string]any
	artifact map[string]any
	// env has further variables of the program.
	env []string
	// known is what Slipway knows of each deployment, by its id.
	known *sync.Map
}

// newWorld returns a world in which the inputs say what a rolling deployment of two tasks takes.
func newWorld(t *testing.T, more map[string]any) *world {
	t.Helper()
	w := &world{t: t, cloud: fake.New(), instance: "inst_1", known: &sync.Map{}, artifact: map[string]any{}, inputs: map[string]any{
		"service_name": "web", "cluster_arn": fake.Cluster, "image": "web:1", "size": map[string]any{"cpu": 256, "memory": 512},
		"count": 2, "container_port": 8080, "subnet_ids": []string{"subnet-1"},
	}}
	maps.Copy(w.inputs, more)
	t.Cleanup(w.cloud.Close)
	return w
}

// shifting are the inputs of a strategy that moves traffic.
func shifting(strategy string, more map[string]any) map[string]any {
	inputs := map[string]any{
		"strategy": strategy, "target_group_arn": fake.BlueTargetGroup, "alternate_target_group_arn": fake.GreenTargetGroup,
		"listener_rule_arn": fake.Rule, "test_listener_rule_arn": fake.TestRule,
		"balancer_role_arn": "arn:aws:iam::123456789012:role/ecs-elb", "bake_minutes": 1,
		"canary_percent": 10, "canary_minutes": 1, "step_percent": 40, "step_minutes": 1,
	}
	maps.Copy(inputs, more)
	return inputs
}

// run is a program that runs.
type run struct {
	w              *world
	command        *exec.Cmd
	id             string
	before         map[string]any
	began          time.Time
	stdout, stderr bytes.Buffer
	once           sync.Once
}

// ended is a program that has ended.
type ended struct {
	began  time.Time
	code   int
	stderr string
	// data and fields are what it has reported, as Slipway keeps it; outputs are the last that it has printed.
	data, fields, outputs map[string]any
	events                []map[string]any
	// states are those of the service deployment, in order.
	states []map[string]any
}

// begin starts the program for a deployment. before is what is known of it, beside what earlier programs have reported; it may be
// nil.
func (w *world) begin(id string, fenceNumber int, action string, before map[string]any) *run {
	w.t.Helper()
	data := map[string]any{}
	if reported, ok := w.known.Load(id); ok {
		maps.Copy(data, reported.(map[string]any))
	}
	maps.Copy(data, before)
	in, err := json.Marshal(map[string]any{
		"deployment": map[string]any{"id": id, "fence": fmt.Sprint(fenceNumber), "moduleInstanceId": w.instance, "action": action, "data": data},
		"release":    map[string]any{"inputs": w.inputs, "artifact": w.artifact},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	r := &run{w: w, id: id, before: data, began: w.cloud.Clock.Now(), command: exec.Command(binary, "-poll", "1ms", "-max-backoff", "2ms", "-patience", "2s")}
	r.command.Env = append(append(w.cloud.Env(), "HOME="+w.t.TempDir()), w.env...)
	r.command.Stdin, r.command.Stdout, r.command.Stderr = bytes.NewReader(in), &r.stdout, &r.stderr
	if err := r.command.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { r.once.Do(func() { _ = r.command.Process.Kill(); _ = r.command.Wait() }) })
	return r
}

// check compares everything that a program has reported of its service deployment with the truth, and all that it has seen of it on
// the way.
func (e *ended) check(w *world) {
	w.t.Helper()
	history := w.cloud.History()
	for n, r := range history {
		if *r.ServiceDeploymentArn != e.data["serviceDeploymentArn"] {
			continue
		}
		r.Looks = slices.DeleteFunc(r.Looks, func(l fake.Look) bool { return l.At.Before(e.began) }) // of an earlier program
		want := truth.Reported(&r, truth.Known{Inputs: w.inputs, Artifact: w.artifact, CapturedAt: w.cloud.Answered("DescribeLoadBalancers")})
		got := maps.Clone(e.data)
		delete(got, "previousTaskDefinition") // it was given
		if len(w.artifact) > 0 {              // what Slipway has from the release is not reported
			added, _ := got["deployedTaskDefinition"].(map[string]any)
			whole := maps.Clone(w.artifact)
			maps.Copy(whole, added)
			whole["revision"] = float64(r.Definition.Revision)
			got["deployedTaskDefinition"] = whole
		}
		for _, line := range truth.Difference(got, want, "data") {
			w.t.Error(line)
		}
		for _, line := range truth.Difference(list(e.states), list(truth.States(&r)), "states") {
			w.t.Error(line)
		}
		if e.fields["externalDeploymentId"] == nil && n < len(history)-1 {
			return // it was superseded before anybody could see what events call it
		}
		if got := fmt.Sprint(e.fields["externalDeploymentId"], e.fields["resourceArn"], e.fields["resourceName"]); got != fmt.Sprint(r.ExternalID, *r.ServiceArn, w.inputs["service_name"]) {
			w.t.Errorf("it is called %s, and in truth %s", got, r.ExternalID)
		}
		return
	}
	w.t.Errorf("there is no service deployment %v", e.data["serviceDeploymentArn"])
}

func list(states []map[string]any) (all []any) {
	for _, s := range states {
		all = append(all, s)
	}
	return all
}

func (w *world) deploy(id string, fenceNumber int) *ended {
	w.t.Helper()
	return w.begin(id, fenceNumber, "apply", nil).end()
}

func (w *world) destroy(id string, fenceNumber int) *ended {
	w.t.Helper()
	return w.begin(id, fenceNumber, "destroy", nil).end()
}

// mustDeploy is deploy if it must succeed.
func (w *world) mustDeploy(id string, fenceNumber int) *ended {
	w.t.Helper()
	e := w.deploy(id, fenceNumber)
	if e.code != 0 {
		w.t.Fatalf("%s ended with %d: %s", id, e.code, e.stderr)
	}
	return e
}

// end waits for the end of the program. Unless it was killed, all that it has reported has to be true.
func (r *run) end() *ended {
	r.w.t.Helper()
	r.once.Do(func() { _ = r.command.Wait() })
	e := &ended{
		began: r.began, code: r.command.ProcessState.ExitCode(), stderr: strings.TrimSpace(r.stderr.String()),
		data: maps.Clone(r.before), fields: map[string]any{},
	}
	for line := range strings.Lines(r.stdout.String()) {
		e.take(r.w.t, line)
	}
	r.w.known.Store(r.id, e.data)
	if e.code >= 0 && e.data["serviceDeploymentArn"] != nil {
		e.check(r.w)
	}
	return e
}

func (e *ended) take(t *testing.T, line string) {
	t.Helper()
	var said map[string]any
	if err := json.Unmarshal([]byte(line), &said); err != nil {
		if strings.HasSuffix(line, "\n") {
			t.Errorf("it printed %q: %v", line, err)
		}
		return // it was killed meanwhile
	}
	report, isReport := said["report"].(map[string]any)
	outputs, isOutputs := said["outputs"].(map[string]any)
	switch {
	case isReport:
		if patch, ok := report["data"].(map[string]any); ok {
			maps.Copy(e.data, patch)
			if state, ok := patch["serviceDeploymentState"].(map[string]any); ok {
				e.states = append(e.states, state)
			}
			delete(report, "data")
		}
		maps.Copy(e.fields, report)
	case isOutputs:
		e.outputs = outputs
	default:
		e.events = append(e.events, said)
	}
}

// said reports whether an event has a text in its message.
func (e *ended) said(text string) bool {
	return slices.ContainsFunc(e.events, func(event map[string]any) bool { return strings.Contains(fmt.Sprint(event["message"]), text) })
}

// values returns what the states have at a path, each once if it stays the same.
func (e *ended) values(path ...string) (all []string) {
	for _, state := range e.states {
		var value any = state
		for _, name := range path {
			switch v := value.(type) {
			case map[string]any:
				value = v[name]
			case []any:
				value = nil
				if len(v) > 0 {
					value = v[0].(map[string]any)[name]
				}
			}
		}
		if text := fmt.Sprint(value); len(all) == 0 || all[len(all)-1] != text {
			all = append(all, text)
		}
	}
	return all
}
