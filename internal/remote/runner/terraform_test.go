package runner_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/module"
	"slipway/internal/remote/runner/keeper"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// countsEnv names the folder in which the Terraform of a test notes its signals and those of its provider.
const countsEnv = "COUNTS"

// terraform is a Terraform that only initializes, and applies until it is stopped. Its provider is a child. If the folder
// has the file "hold", it handles no signals until the folder has the file "proceed".
func terraform(args []string) (act func() error, ok bool) {
	if filepath.Base(args[0]) != "terraform" {
		return nil, false
	}
	if !slices.Contains(args, "apply") {
		return func() error { return nil }, true
	}
	path, err := os.Executable()
	if err != nil {
		return func() error { return err }, true
	}
	counts := os.Getenv(countsEnv)
	if exists(counts, "hold") {
		_ = os.Remove(filepath.Join(counts, "hold"))
		for !exists(counts, "proceed") {
			<-time.After(10 * time.Millisecond)
		}
	}
	return testkit.CountSignals(testkit.SignalCounterArgs(path, counts))
}

func exists(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// ownTerraform puts the Terraform of this test first on the PATH of an environment.
func ownTerraform(t *testing.T, environ []string, counts string) []string {
	t.Helper()
	bin := t.TempDir()
	path, err := os.Executable()
	if err == nil {
		err = os.Symlink(path, filepath.Join(bin, "terraform"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(environ, "PATH="+bin+":"+os.Getenv("PATH"), countsEnv+"="+counts)
}

// shells are those of this machine that may be its sh, in which traps differ.
func shells() (found []string) {
	for _, shell := range []string{"sh", "bash", "dash"} {
		if _, err := exec.LookPath(shell); err == nil {
			found = append(found, shell)
		}
	}
	return found
}

func TestCanceledTerraformGetsOneInterruptAndItsProvidersNone(t *testing.T) {
	t.Parallel()
	for _, shell := range shells() {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			w, counts := worldtest.New(t, worldtest.SQLite(t)), t.TempDir()
			w.Deploy.Execution.LeaseTime = 6 * time.Second
			m := newModule(t, w, new("https://git.example/greeting.git"))
			c := moduleConfig(t, w, greetingModule)
			c.Command, c.Environ = shell+" "+c.Command, ownTerraform(t, c.Environ, counts)
			start(t, c)
			d := m.deploy(t, "good morning")
			says(t, w, d.ID, "started")
			group := groupOf(t, c, d.ID)
			if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
				t.Fatal(err)
			}
			until(t, "it is canceled", func() bool { return read(t, w, d.ID).Status == "CANCELED" })
			if got := testkit.CountedSignals(t, counts, testkit.CounterLeader); !slices.Equal(got, []string{"interrupt"}) {
				t.Errorf("Terraform got %q", got)
			}
			if got := testkit.CountedSignals(t, counts, testkit.CounterChild); len(got) > 0 {
				t.Errorf("its provider got %q", got)
			}
			if lives(group) {
				t.Error("something still runs")
			}
		})
	}
}

func TestCanceledTerraformKeepsTheStateOfWhatItHasMade(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	m := newModule(t, w, new("https://git.example/greeting.git"))
	_ = terraformConfig(t, w) // which looks for Terraform
	c := moduleConfig(t, w, `variable "greeting" { type = string }
resource "terraform_data" "made" { input = var.greeting }
resource "terraform_data" "making" {
  depends_on = [terraform_data.made]
  provisioner "local-exec" { command = "touch ../making; exec sleep 600" }
}
`)
	start(t, c)
	d := m.deploy(t, "good morning")
	folder := filepath.Join(c.WorkDir, m.instance)
	until(t, "it makes the second", func() bool { return exists(folder, "making") })
	if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
		t.Fatal(err)
	}
	until(t, "it has ended", func() bool { return read(t, w, d.ID).CompletedAt != nil })
	if got := read(t, w, d.ID); string(got.Status) != "CANCELED" || got.Error.Code != string(fault.DeploymentCanceled) {
		t.Errorf("%s %+v", got.Status, got.Error)
	}
	var state struct {
		Resources []struct{ Name string }
	}
	decode(t, filepath.Join(folder, "terraform.tfstate"), &state)
	if len(state.Resources) != 2 { // of which the second is tainted
		t.Errorf("the state has %v", state.Resources)
	}
}

func TestTerraformIsNotRunWhereAStopWouldReachItsProviders(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	c := scriptConfig(t, w, "terraform.sh")
	c.Kinds = module.DeploymentTypes
	want := fmt.Sprintf("Start the runner with: --exec %s --stop program", c.Command)
	for _, command := range []string{c.Command, "unset SLIPWAY_STOP; " + c.Command} { // as of a runner from before the mode
		c.Command = command
		c.Stop = keeper.StopGroup
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		once(t, c)
		got := read(t, w, d.ID)
		if got.Status != "FAILED" || got.Error.Message != "The program ended with exit code 2." || !strings.HasSuffix(got.Error.Description, want) {
			t.Errorf("%s: %s %+v", command, got.Status, got.Error)
		}
		if left, err := os.ReadDir(filepath.Join(c.WorkDir, p.Instance.ID)); err != nil || len(left) > 0 {
			t.Errorf("%v, it left %v", err, left)
		}
	}
}

// A module in a folder of its repository is applied from there. If that has none, the deployment fails: Terraform would take the
// empty folder for a module without resources, and destroy all that there is.
func TestAModuleInAFolderIsAppliedFromThere(t *testing.T) {
	t.Parallel()
	const note = `printf '%s\n' "$*" >>"$COUNTS/ran"
case " $* " in *" output "*) echo '{}' ;; esac`
	files := map[string]string{"main.tf": "# the root", "modules/queue/main.tf": "# the queue", "json/main.tf.json": "{}", "docs/README.md": "none"}
	for folder, ran := range map[string]string{
		"": "-chdir=module/. apply", "modules/queue": "-chdir=module/modules/queue apply", "json": "-chdir=module/json apply",
		"docs": "", "modules": "", "gone": "",
	} {
		t.Run("in "+folder, func(t *testing.T) {
			t.Parallel()
			w, bin := worldtest.New(t, worldtest.SQLite(t)), t.TempDir()
			testkit.Script(t, filepath.Join(bin, "terraform"), note)
			var in *string
			if folder != "" {
				in = &folder
			}
			m := newModuleIn(t, w, new("https://git.example/greeting.git"), in)
			c := repositoryConfig(t, w, repositoryOf(t, files))
			c.Environ = append(c.Environ, "PATH="+bin+":"+os.Getenv("PATH"), countsEnv+"="+bin)
			d := m.deploy(t, "good morning")
			once(t, c)
			got := read(t, w, d.ID)
			text, err := os.ReadFile(filepath.Join(bin, "ran"))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if ran == "" {
				if string(got.Status) != "FAILED" || len(text) > 0 || !strings.Contains(fmt.Sprint(got.Error), "no *.tf in the folder "+folder) {
					t.Errorf("%s %+v after %q", got.Status, got.Error, text)
				}
				return
			}
			if string(got.Status) != "SUCCEEDED" || !strings.Contains(string(text), ran) {
				t.Errorf("%s %+v after %q", got.Status, got.Error, text)
			}
		})
	}
}
