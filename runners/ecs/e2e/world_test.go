// Package e2e_test has slipway-ecs run by the real runner, for the real server, against the fake account: all three as processes
// that can be killed.
package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slipway-ecs/internal/test/fake"
)

// bin has the programs as they are built.
var bin string

func TestMain(m *testing.M) { os.Exit(built(m)) }

func built(m *testing.M) int {
	dir, err := os.MkdirTemp("", "slipway-e2e")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	bin = dir
	// go test caches its result by the files within this module alone. The program and the fake are; the server is not, so after a
	// change of that it takes -count=1, as the CI has it.
	sources, err := filepath.Glob("../*.go")
	if err != nil {
		panic(err)
	}
	for _, file := range sources {
		if _, err := os.Stat(file); err != nil {
			panic(err)
		}
	}
	for _, b := range []struct{ folder, name, pkg string }{{"../../..", "slipway", "./cmd/slipway"}, {"..", "slipway-ecs", "."}} {
		build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", filepath.Join(dir, b.name), b.pkg)
		build.Dir = b.folder
		if out, err := build.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%s: %v: %s", b.name, err, out))
		}
	}
	return m.Run()
}

// world is a server with an organization, a runner, and an account of AWS.
type world struct {
	t              *testing.T
	dir            string
	cloud          *fake.Cloud
	server, runner *exec.Cmd
	address        string
	admin, token   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), cloud: fake.New(), address: "127.0.0.1:0"}
	t.Cleanup(w.cloud.Close)
	w.slipway("init", "--org", "acme", "--runner-token", "runner.token")
	w.slipway("token", "create", "--org", "acme", "--role", "admin", "--name", "admin", "--to", "admin.token")
	w.admin, w.token = w.read("admin.token"), w.read("runner.token")
	w.startServer()
	t.Cleanup(func() { kill(w.server) })
	w.startRunner()
	t.Cleanup(func() { kill(w.runner) })
	w.slipway("modules", "publish", "--yes", manifest(t))
	w.slipway("projects", "create", "shop", "--name", "Shop")
	w.slipway("environments", "create", "shop/prod", "--name", "Production")
	return w
}

func manifest(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../../docs/modules/aws-ecs-service/slipway-module.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (w *world) read(file string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, file))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func (w *world) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(w.t.Context(), filepath.Join(bin, "slipway"), args...)
	c.Dir = w.dir
	c.Env = append(w.cloud.Env(), "HOME="+w.dir, "XDG_CONFIG_HOME="+w.dir, "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+os.TempDir())
	if w.admin != "" {
		c.Env = append(c.Env, "SLIPWAY_SERVER=http://"+w.address, "SLIPWAY_TOKEN="+w.admin)
	}
	return c
}

// slipway runs a command that must succeed, and returns what it prints.
func (w *world) slipway(args ...string) string {
	w.t.Helper()
	out, code := w.try(args...)
	if code != 0 {
		w.t.Fatalf("slipway %s: %d: %s", strings.Join(args, " "), code, out)
	}
	return out
}

// try runs a command, and returns what it prints and its exit code.
func (w *world) try(args ...string) (out string, code int) {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	c := w.command(args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return stdout.String() + stderr.String(), c.ProcessState.ExitCode()
	}
	return stdout.String(), 0
}

var serving = regexp.MustCompile(`"msg":"serving","url":"http://([^"]+)"`)

// startServer starts the server, if it was before if there was one.
func (w *world) startServer() {
	w.t.Helper()
	w.server = w.command("serve", "--listen", w.address, "--admin-listen", "", "--lease", "1m")
	log, err := w.server.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.server.Start(); err != nil {
		w.t.Fatal(err)
	}
	seen := make([]byte, 0, 64<<10)
	for !serving.Match(seen) {
		n, err := log.Read(seen[len(seen):cap(seen)])
		if err != nil {
			w.t.Fatalf("the server does not serve: %v: %s", err, seen)
		}
		seen = seen[:len(seen)+n]
	}
	w.address = string(serving.FindSubmatch(seen)[1])
	go func() { _, _ = io.Copy(io.Discard, log) }() // it ends with the server
}

func (w *world) startRunner() {
	w.t.Helper()
	w.runner = w.command("runner", "--token-file", "runner.token", "--deployment-types", "aws:ecs", "--destroy", "--poll", "50ms", "--stop-grace", "10s",
		"--exec", "exec slipway-ecs -poll 20ms -max-backoff 20ms")
	w.runner.Env = slices.DeleteFunc(w.runner.Env, func(v string) bool { return strings.HasPrefix(v, "SLIPWAY_TOKEN=") })
	log, err := os.OpenFile(filepath.Join(w.dir, "runner.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	w.runner.Stderr = log
	if err := w.runner.Start(); err != nil {
		w.t.Fatal(err)
	}
}

func kill(c *exec.Cmd) {
	_ = c.Process.Kill()
	_ = c.Wait()
}

// instance makes an instance of the module, and writes its values to a file of its name.
func (w *world) instance(name string, inputs map[string]any) {
	w.t.Helper()
	w.slipway("instances", "create", "shop/prod/"+name, "--module", "aws/ecs-service")
	all := map[string]any{
		"service_name": name, "cluster_arn": fake.Cluster, "image": name + ":1", "count": 2, "container_port": 8080, "subnet_ids": []string{"subnet-1"},
	}
	for id, value := range inputs {
		all[id] = value
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, name+".json"), text, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// values returns the values of an instance as they are in its file.
func (w *world) values(name string) (values map[string]any) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.read(name+".json")), &values); err != nil {
		w.t.Fatal(err)
	}
	return values
}

// shifting are the inputs of a canary that waits for somebody before it has all of the traffic.
var shifting = map[string]any{
	"strategy": "CANARY", "target_group_arn": fake.BlueTargetGroup, "alternate_target_group_arn": fake.GreenTargetGroup,
	"listener_rule_arn": fake.Rule, "test_listener_rule_arn": fake.TestRule, "balancer_role_arn": "arn:aws:iam::123456789012:role/ecs-elb",
	"canary_percent": 10, "canary_minutes": 0, "bake_minutes": 0, "pause_stages": []string{"POST_TEST_TRAFFIC_SHIFT"}, "pause_minutes": 30,
}

// deploy deploys the values of an instance with others, waits for the end, and returns the exit code of the command.
func (w *world) deploy(name string, args ...string) (string, int) {
	w.t.Helper()
	return w.try(append([]string{"deploy", "shop/prod/" + name, "--values", name + ".json", "--artifact", "{}", "--yes", "--timeout", "60s"}, args...)...)
}

func (w *world) mustDeploy(name string, args ...string) map[string]any {
	w.t.Helper()
	if out, code := w.deploy(name, args...); code != 0 {
		w.t.Fatalf("the deployment of %s ended with %d: %s; the runner: %s", name, code, out, w.read("runner.log"))
	}
	return w.last(name)
}

// last returns the newest deployment of an instance.
func (w *world) last(name string) map[string]any {
	w.t.Helper()
	return w.all(name)[0]
}

// all returns the deployments of an instance, the newest first.
func (w *world) all(name string) (all []map[string]any) {
	w.t.Helper()
	var answer struct {
		Data struct {
			Deployments struct {
				Edges []struct{ Node map[string]any }
			}
		}
	}
	out := w.slipway("api", `query($id: ID!) { deployments(first: 50, filter: {moduleInstanceId: $id}) { edges { node {
		id status triggerSource externalDeploymentId resourceArn resourceName outputs dataJson error { code message description } } } } }`,
		"--var", "id="+strings.TrimSpace(w.id(name)))
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	for _, e := range answer.Data.Deployments.Edges {
		all = append(all, e.Node)
	}
	if len(all) == 0 {
		w.t.Fatalf("no deployments: %s", out)
	}
	return all
}

func (w *world) id(name string) string {
	w.t.Helper()
	var instance struct{ ID string }
	if err := json.Unmarshal([]byte(w.slipway("instances", "show", "shop/prod/"+name, "-o", "json")), &instance); err != nil {
		w.t.Fatal(err)
	}
	return instance.ID
}

// deliver sends an event of the account as EventBridge does.
func (w *world) deliver(e fake.Event) {
	w.t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		w.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, "http://"+w.address+"/integrations/ecs/events", bytes.NewReader(text))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("X-Api-Key", w.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	if answer, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusAccepted {
		w.t.Errorf("%s: %s: %s", e.Detail["eventName"], response.Status, answer)
	}
}
