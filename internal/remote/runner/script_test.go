package runner_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/remote/runner"
	"slipway/internal/remote/runner/keeper"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// scripts is where the programs are that docs/operations.md links.
const scripts = "../../../docs/runner"

func TestDocsNameTheScriptsThatAreTested(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	tested, err := filepath.Glob(filepath.Join(scripts, "*.sh"))
	if err != nil || len(tested) != 2 {
		t.Fatalf("%q, %v", tested, err)
	}
	for _, script := range tested {
		if name := filepath.Base(script); !strings.Contains(string(doc), "](runner/"+name+")") || !strings.Contains(string(doc), "--exec /opt/slipway/"+name) {
			t.Errorf("docs/operations.md does not show how to run docs/runner/%s", name)
		}
	}
	// That of the guide before the settings is typed by a test of its own.
	if _, rest, _ := strings.Cut(string(doc), "\n## Settings\n"); rest == "" || strings.Contains(rest, "#!/bin/sh") {
		t.Error("docs/operations.md has a script that could be a file")
	}
}

// deployable is an instance of a terraform module in a world, with values for one input.
type deployable struct {
	w                   *worldtest.World
	instance, versionID string
}

func newModule(t *testing.T, w *worldtest.World, source *string) deployable {
	t.Helper()
	return newModuleIn(t, w, source, nil)
}

// newModuleIn is newModule of a folder of the source, nil for its root.
func newModuleIn(t *testing.T, w *worldtest.World, source, folder *string) deployable {
	t.Helper()
	p := w.Fixture(t, w.Acme, "web")
	admin := w.Acme.As(actor.Admin)
	definition, _, err := w.Catalog.CreateDefinition(admin, catalog.NewDefinition{Name: "Greeting", Type: "greeting", Status: moduledefinition.StatusACTIVE})
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := strictjson.Parse([]byte(`[{"id":"greeting","type":"string","label":"Greeting","required":true}]`))
	if err != nil {
		t.Fatal(err)
	}
	version, _, err := w.Catalog.PublishVersion(admin, module.NewVersion{
		DefinitionID: definition.ID, Version: "1.0.0", Kind: module.DeploymentTypeTerraform, Inputs: inputs, SourceURL: source, SourceRef: new("v1"), SourcePath: folder,
	})
	if err != nil {
		t.Fatal(err)
	}
	instance, err := w.Catalog.CreateInstance(admin, catalog.NewInstance{EnvironmentID: p.Environment.ID, DefinitionID: definition.ID, Name: "greeting"})
	if err != nil {
		t.Fatal(err)
	}
	return deployable{w, instance.ID, version.ID}
}

func (m deployable) deploy(t *testing.T, greeting string) *ent.Deployment {
	t.Helper()
	return m.deployWith(t, `{"greeting":"`+greeting+`"}`)
}

func (m deployable) deployWith(t *testing.T, inputs string) *ent.Deployment {
	t.Helper()
	d, _, err := m.w.Deploy.Propose.Create(m.w.Acme.As(actor.Developer), propose.New{
		InstanceID: m.instance, VersionID: m.versionID, Inputs: strictjson.MustParse(inputs),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// rollBack asks for a rollback and returns the id of its deployment.
func (m deployable) rollBack(t *testing.T, to string) string {
	t.Helper()
	r := m.w.GraphQL(t, m.w.Acme.Tokens[actor.Developer],
		`mutation($id: ID!) { rollbackDeployment(input: { id: $id }) { deployment { id } } }`, map[string]any{"id": to})
	return r.Text(t, "data", "rollbackDeployment", "deployment", "id")
}

// reader is an instance of another module in the world, whose greeting is an output of the module's instance.
func (m deployable) reader(t *testing.T, output string, source *string) deployable {
	t.Helper()
	admin := m.w.Acme.As(actor.Admin)
	definition, _, err := m.w.Catalog.CreateDefinition(admin, catalog.NewDefinition{Name: "Reader", Type: "reader", Status: moduledefinition.StatusACTIVE})
	if err != nil {
		t.Fatal(err)
	}
	inputs := `[{"id":"of","type":"$ref:greeting","label":"Of","mapped_inputs":[
		{"id":"greeting","type":"string","label":"Greeting","required":true,"default":"${{ ref.stack.output.` + output + ` }}"}]}]`
	version, _, err := m.w.Catalog.PublishVersion(admin, module.NewVersion{
		DefinitionID: definition.ID, Version: "1.0.0", Kind: module.DeploymentTypeTerraform, Inputs: strictjson.MustParse(inputs), SourceURL: source, SourceRef: new("v1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	environment := m.w.Store.Client.ModuleInstance.GetX(admin, m.instance).EnvironmentID
	instance, err := m.w.Catalog.CreateInstance(admin, catalog.NewInstance{EnvironmentID: environment, DefinitionID: definition.ID, Name: "reader"})
	if err != nil {
		t.Fatal(err)
	}
	return deployable{m.w, instance.ID, version.ID}
}

// output returns an output of a deployment, as the API shows it.
func (m deployable) output(t *testing.T, deploymentID, name string) string {
	t.Helper()
	r := m.w.GraphQL(t, m.w.Acme.Tokens[actor.Viewer], `query($id: ID!) { deployment(id: $id) { outputs } }`, map[string]any{"id": deploymentID})
	return r.Text(t, "data", "deployment", "outputs", name)
}

// thereAndBack tries a script: what is deployed is what was asked for, and a rollback brings the old values back. What it
// has made becomes an input of the reader, and is replayed as it was.
func (m deployable) thereAndBack(t *testing.T, c runner.Config, reader deployable, output string, deployed func(folder string) string) {
	t.Helper()
	run := func(of deployable, id, want string) string {
		t.Helper()
		once(t, c)
		if got := read(t, m.w, id); got.Status != "SUCCEEDED" {
			t.Fatalf("%s: %+v, %q", got.Status, got.Error, messages(t, m.w, id))
		}
		if got := deployed(filepath.Join(c.WorkDir, of.instance)); got != want {
			t.Errorf("deployed is %q, want %q", got, want)
		}
		return id
	}
	reads := `{"of":"` + m.instance + `"}`
	first := run(m, m.deploy(t, "good morning").ID, "good morning")
	made := m.output(t, first, output)
	firstRead := run(reader, reader.deployWith(t, reads).ID, made)
	second := run(m, m.deploy(t, "good night").ID, "good night")
	if m.output(t, second, output) == made {
		t.Errorf("made is %q again", made)
	}
	run(reader, reader.deployWith(t, reads).ID, m.output(t, second, output))
	run(reader, reader.rollBack(t, firstRead), made)
	run(m, m.rollBack(t, first), "good morning")
}

// scriptConfig is that of a runner of a script.
func scriptConfig(t *testing.T, w *worldtest.World, script string) runner.Config {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(scripts, script))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := config(t, w, path)
	c.Kinds = []string{module.DeploymentTypeTerraform}
	return c
}

func TestFilesAreDeployedAndRolledBack(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	m := newModule(t, w, nil)
	m.thereAndBack(t, scriptConfig(t, w, "files.sh"), m.reader(t, "releaseId", nil), "releaseId", func(folder string) string {
		var in struct {
			Release struct{ Inputs struct{ Greeting string } }
		}
		decode(t, filepath.Join(folder, "release.json"), &in)
		return in.Release.Inputs.Greeting
	})
}

// terraformConfig is that of a runner of terraform.sh that fetches the module from a repository of the test's.
func terraformConfig(t *testing.T, w *worldtest.World) runner.Config {
	t.Helper()
	if _, err := exec.LookPath("terraform"); err != nil {
		t.Skip("terraform is not on this machine; the tests of files.sh do the same with files")
	}
	return moduleConfig(t, w, greetingModule)
}

// moduleConfig is that of a runner of terraform.sh, whose modules are all the same one.
func moduleConfig(t *testing.T, w *worldtest.World, main string) runner.Config {
	t.Helper()
	return repositoryConfig(t, w, repository(t, main))
}

// repositoryConfig is moduleConfig for the module of a repository.
func repositoryConfig(t *testing.T, w *worldtest.World, path string) runner.Config {
	t.Helper()
	for _, tool := range []string{"jq", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not on this machine; the tests of files.sh do the same with files", tool)
		}
	}
	c := scriptConfig(t, w, "terraform.sh")
	c.Stop = keeper.StopProgram
	c.Environ = append(c.Environ,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+path+".insteadOf", "GIT_CONFIG_VALUE_0=https://git.example/greeting.git",
		"CHECKPOINT_DISABLE=1")
	return c
}

func TestTerraformIsAppliedAndRolledBack(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	source := new("https://git.example/greeting.git")
	m := newModule(t, w, source)
	m.thereAndBack(t, terraformConfig(t, w), m.reader(t, "said", source), "said", func(folder string) string {
		var state struct {
			Outputs struct{ Said struct{ Value string } }
		}
		decode(t, filepath.Join(folder, "terraform.tfstate"), &state)
		return state.Outputs.Said.Value
	})
	newest := w.Store.Client.ModuleInstance.GetX(w.Acme.As(actor.Viewer), m.instance).LiveDeploymentID
	if said := messages(t, w, *newest); !slices.Contains(said, "Sensitive outputs are not reported: hidden.") || strings.Contains(strings.Join(logs(t, w, *newest), ""), `"outputs"`) {
		t.Errorf("%q, %q", said, logs(t, w, *newest))
	}
}

// greetingModule is a Terraform module with outputs.
const greetingModule = `variable "greeting" { type = string }
resource "terraform_data" "greeting" { input = var.greeting }
output "said" { value = terraform_data.greeting.output }
output "hidden" {
  value     = "hush"
  sensitive = true
}
`

// repository makes a git repository with a Terraform module, whose version is tagged v1.
func repository(t *testing.T, main string) (path string) {
	t.Helper()
	return repositoryOf(t, map[string]string{"main.tf": main})
}

// repositoryOf returns a repository of files, by their paths.
func repositoryOf(t *testing.T, files map[string]string) (path string) {
	t.Helper()
	path = t.TempDir()
	for name, text := range files {
		err := os.MkdirAll(filepath.Dir(filepath.Join(path, name)), 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(path, name), []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-q", "-m", "A module"}, {"tag", "v1"},
	} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", path}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return path
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
