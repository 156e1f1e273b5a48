package runner_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// destroying asks for a destroy of an instance.
func destroying(t *testing.T, w *worldtest.World, instanceID string) *ent.Deployment {
	t.Helper()
	d, _, err := w.Deploy.Propose.Destroy(w.Acme.As(actor.Admin), propose.Destroy{InstanceID: instanceID})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A runner whose program does not know of destroys does not get one; the other's removes what was deployed.
func TestFilesAreDestroyedByARunnerThatKnowsOfIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	m := newModule(t, w, nil)
	c := scriptConfig(t, w, "files.sh")
	m.deploy(t, "good morning")
	once(t, c)
	file := filepath.Join(c.WorkDir, m.instance, "release.json")
	d := destroying(t, w, m.instance)
	once(t, c)
	if _, err := os.Stat(file); err != nil || read(t, w, d.ID).Status != "PENDING" {
		t.Errorf("a runner that does not destroy: %v, %s", err, read(t, w, d.ID).Status)
	}
	c.Destroy = true
	once(t, c)
	if _, err := os.Stat(file); !os.IsNotExist(err) || read(t, w, d.ID).Status != "SUCCEEDED" {
		t.Errorf("a runner that destroys: %v, %s", err, read(t, w, d.ID).Status)
	}
}

func TestTerraformDestroysWhatItHasMade(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	m := newModule(t, w, new("https://git.example/greeting.git"))
	c := terraformConfig(t, w)
	c.Destroy = true
	var state struct{ Resources []any }
	path := filepath.Join(c.WorkDir, m.instance, "terraform.tfstate")
	m.deploy(t, "good morning")
	once(t, c)
	if decode(t, path, &state); len(state.Resources) != 1 {
		t.Fatalf("deployed are %v", state.Resources)
	}
	d := destroying(t, w, m.instance)
	once(t, c)
	if decode(t, path, &state); len(state.Resources) != 0 || read(t, w, d.ID).Status != "SUCCEEDED" || made(t, w, d.ID) != "" {
		t.Errorf("%s: %v, %q", read(t, w, d.ID).Status, state.Resources, messages(t, w, d.ID))
	}
}

// A destroy has no outputs: a program that prints some all the same has succeeded without.
func TestADestroySucceedsWithoutTheOutputsThatItsProgramPrints(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	c, _ := config(t, w, `echo "$SLIPWAY_ACTION"; echo '{"outputs": {"a": 1}}'`)
	c.Destroy = true
	applied := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	once(t, c)
	d := destroying(t, w, p.Instance.ID)
	once(t, c)
	for id, want := range map[string]struct{ action, made string }{applied.ID: {"apply", `{"a":1}`}, d.ID: {"destroy", ""}} {
		if said := logs(t, w, id); !slices.Equal(said, []string{want.action}) || made(t, w, id) != want.made || read(t, w, id).Status != "SUCCEEDED" {
			t.Errorf("%s: %s, %q, %s", want.action, read(t, w, id).Status, said, made(t, w, id))
		}
	}
	if said := messages(t, w, d.ID); len(said) != 1 || !strings.HasPrefix(said[0], "The server rejected the outputs: ") {
		t.Errorf("%q", said)
	}
	if i := w.Store.Client.ModuleInstance.GetX(w.Acme.As(actor.Viewer), p.Instance.ID); i.LiveDeploymentID != nil || i.DestroyedAt == nil {
		t.Errorf("%+v", i)
	}
}

// The next runner need not have destroys done: it takes over a program that runs already.
func TestADestroyGoesOnUnderTheNextRunner(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	p.Succeeded(t)
	s := &stage{w: w, id: destroying(t, w, p.Instance.ID).ID, folder: t.TempDir()}
	s.c, _ = config(t, w, `echo "$SLIPWAY_ACTION started"; until [ -e "$STEPS/1" ]; do sleep 0.02; done; echo finished; touch "$STEPS/ended"`)
	s.c.Environ, s.c.Destroy = append(s.c.Environ, "STEPS="+s.folder), true
	first := launch(t, w, s.c)
	says(t, w, s.id, "destroy started")
	_ = first.end(syscall.SIGKILL)
	s.tell(t, "1")
	s.await(t, "ended")
	s.c.Destroy = false
	start(t, s.c)
	until(t, "it is completed", func() bool { return read(t, w, s.id).CompletedAt != nil })
	i := w.Store.Client.ModuleInstance.GetX(w.Acme.As(actor.Viewer), p.Instance.ID)
	if said := logs(t, w, s.id); !slices.Equal(said, []string{"destroy started", "finished"}) || i.LiveDeploymentID != nil || i.DestroyedAt == nil {
		t.Errorf("%q, %+v", said, i)
	}
}
