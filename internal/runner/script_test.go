package runner_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/ent/moduledefinition"
	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/deployment"
	"slipway/internal/strictjson"
	"slipway/internal/test/worldtest"
)

// scripts is where the programs are that docs/operations.md links.
const scripts = "../../docs/runner"

func TestDocsNameTheScriptsThatAreTested(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/operations.md")
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
	if strings.Contains(string(doc), "#!/bin/sh") {
		t.Error("docs/operations.md has a script that could be a file")
	}
}

// module is an instance of a terraform module in a world, with values for one input.
type module struct {
	w                   *worldtest.World
	instance, versionID string
}

func newModule(t *testing.T, w *worldtest.World, source *string) module {
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
	version, _, err := w.Catalog.PublishVersion(admin, catalog.NewVersion{
		DefinitionID: definition.ID, Version: "1.0.0", Kind: catalog.DeploymentTypeTerraform, Inputs: inputs, SourceURL: source, SourceRef: new("v1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	instance, err := w.Catalog.CreateInstance(admin, catalog.NewInstance{EnvironmentID: p.Environment.ID, DefinitionID: definition.ID, Name: "greeting"})
	if err != nil {
		t.Fatal(err)
	}
	return module{w, instance.ID, version.ID}
}

func (m module) deploy(t *testing.T, greeting string) *ent.Deployment {
	t.Helper()
	d, err := m.w.Deploy.Create(m.w.Acme.As(actor.Developer), deployment.New{
		InstanceID: m.instance, VersionID: m.versionID, Inputs: strictjson.MustParse(`{"greeting":"` + greeting + `"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// rollBack asks for a rollback and returns the id of its deployment.
func (m module) rollBack(t *testing.T, to string) string {
	t.Helper()
	r := m.w.GraphQL(t, m.w.Acme.Tokens[actor.Developer],
		`mutation($id: ID!) { rollbackDeployment(input: { id: $id }) { deployment { id } } }`, map[string]any{"id": to})
	return r.Text(t, "data", "rollbackDeployment", "deployment", "id")
}

// there and back: what is deployed is what was asked for, and a rollback brings the old values back.
func (m module) thereAndBack(t *testing.T, script string, environ []string, deployed func(folder string) string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(scripts, script))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := config(t, m.w, path)
	c.Environ, c.Kinds = append(c.Environ, environ...), []string{catalog.DeploymentTypeTerraform}
	folder := filepath.Join(c.WorkDir, m.instance)
	run := func(id, want string) {
		t.Helper()
		once(t, c)
		if got := read(t, m.w, id); got.Status != "SUCCEEDED" {
			t.Fatalf("%s: %+v, %q", got.Status, got.Error, messages(t, m.w, id))
		}
		if got := deployed(folder); got != want {
			t.Errorf("deployed is %q, want %q", got, want)
		}
	}
	first := m.deploy(t, "good morning").ID
	run(first, "good morning")
	run(m.deploy(t, "good night").ID, "good night")
	run(m.rollBack(t, first), "good morning")
}

func TestFilesAreDeployedAndRolledBack(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	m := newModule(t, w, nil)
	m.thereAndBack(t, "files.sh", nil, func(folder string) string {
		var in struct {
			Release struct{ Inputs struct{ Greeting string } }
		}
		decode(t, filepath.Join(folder, "release.json"), &in)
		return in.Release.Inputs.Greeting
	})
}

func TestTerraformIsAppliedAndRolledBack(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"terraform", "jq", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not on this machine; TestFilesAreDeployedAndRolledBack does the same with files", tool)
		}
	}
	w := worldtest.New(t, worldtest.SQLite(t))
	m := newModule(t, w, new("https://git.example/greeting.git"))
	environ := []string{
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + repository(t) + ".insteadOf", "GIT_CONFIG_VALUE_0=https://git.example/greeting.git",
		"CHECKPOINT_DISABLE=1",
	}
	m.thereAndBack(t, "terraform.sh", environ, func(folder string) string {
		var state struct {
			Outputs struct{ Said struct{ Value string } }
		}
		decode(t, filepath.Join(folder, "terraform.tfstate"), &state)
		return state.Outputs.Said.Value
	})
}

// repository makes a git repository with a Terraform module, whose version is tagged v1.
func repository(t *testing.T) (path string) {
	t.Helper()
	path = t.TempDir()
	main := `variable "greeting" { type = string }
resource "terraform_data" "greeting" { input = var.greeting }
output "said" { value = terraform_data.greeting.output }
`
	if err := os.WriteFile(filepath.Join(path, "main.tf"), []byte(main), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "main.tf"}, {"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-q", "-m", "A module"}, {"tag", "v1"},
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
