package manifest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"slipway/internal/remote/cli/document"
	"slipway/internal/remote/cli/manifest"
)

const good = `slipway: module/v1
type: acme/queue
name: Queue
version: 1.3.0
deploymentType: terraform
source: {url: https://git.example.com/acme/queue, ref: v1.3.0}
inputs:
  - {id: hidden_for, label: Hidden for, type: number, min: 0, max: 43200, default: 30}
outputs:
  - {name: url}
`

// found returns what is found in a manifest, one a line.
func found(t *testing.T, text, version string) string {
	t.Helper()
	m, err := manifest.Read("m.yaml", []byte(text))
	var findings manifest.Findings
	if err != nil {
		if !errors.As(err, &findings) {
			t.Fatalf("the error is a %T", err)
		}
		return findings.Error()
	}
	if findings, err = m.Lint(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return findings.Error()
}

func TestLintSaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, with, want string }{
		"good":              {"", "", ""},
		"syntax":            {"name: Queue", "name: Queue\nname: Q", `m.yaml:4:1: has the key "name" twice, first at line 3, column 1 (syntax)`},
		"number":            {"name: Queue", "name: 017", `m.yaml:3:7: is a number to some readers and a text to others; write it as JSON does, or quote it, found 017 (syntax)`},
		"unknown":           {"deploymentType", "deployment_type", "m.yaml:5:1: /deployment_type is not a field here, did you mean \"deploymentType\"; allowed are slipway, type, name, description, version, deploymentType, source, inputs, outputs (unknown_field)\nm.yaml:1:1: /deploymentType is required (required)"},
		"unknown in source": {"url:", "uri:", `m.yaml:6:10: /source/uri is not a field here, did you mean "url"; allowed are url, ref, path (unknown_field)`},
		"no manifest":       {good, "[]", `m.yaml:1:1: must be an object, found an array (type)`},
		"format":            {"module/v1", "module/v2", `m.yaml:1:10: /slipway must be one of module/v1, found "module/v2", did you mean "module/v1" (enum)`},
		"type":              {"acme/queue\n", "acme//queue\n", `m.yaml:2:7: /type must be letters, digits, underscores and hyphens, joined by colons, slashes or dots, at most 195 characters, found "acme//queue" (format)`},
		"name":              {"name: Queue", "name: ' '", `m.yaml:3:7: /name must have a character that is seen, found 1 that are not (blank)`},
		"description":       {"name: Queue", "name: Queue\ndescription: " + strings.Repeat("x", 10_001), `m.yaml:4:14: /description must have at most 10000 characters, found 10001 (max_length)`},
		"version":           {"1.3.0\ndep", "'1.3'\ndep", `m.yaml:4:10: /version must be a semantic version such as 1.4.0 or 2.0.0-rc.1, found "1.3" (format)`},
		"version's type":    {"1.3.0\ndep", "1.3\ndep", `m.yaml:4:10: /version must be a string, found the number 1.3 (type)`},
		"deploymentType":    {"terraform", "tofu", `m.yaml:5:17: /deploymentType must be one of aws:ecs, terraform, found "tofu" (enum)`},
		"source":            {"ref: v1.3.0", `ref: "a\nb"`, "m.yaml:6:56: /source/ref must have no control characters"},
		"inputs":            {"min: 0", "min: low", `m.yaml:8:60: /inputs/0/min must be a whole number, found the string "low" (type)`},
		"input's member":    {"min: 0", "mim: 0", `m.yaml:8:55: /inputs/0/mim is not a field here, did you mean "min"`},
		"rule":              {"min: 0", "min: 50000", "m.yaml:8:60: /inputs/0/min must not be more than max, found 50000, and 43200 at /inputs/0/max (min_max)\nm.yaml:8:88: /inputs/0/default must be at least 50000, found 30 (min)"},
		"pattern":           {"type: number, min: 0, max: 43200, default: 30", "type: string, patterns: [{pattern: '(', message: x}]", `m.yaml:8:76: /inputs/0/patterns/0/pattern must be a JavaScript regular expression`},
		"warning":           {"type: number, min: 0, max: 43200, default: 30", `type: string, patterns: [{pattern: '\-', message: x}]`, `m.yaml:8:76: warning: /inputs/0/patterns/0/pattern u flag`},
		"output":            {"{name: url}", "{name: 1a}", `m.yaml:10:12: /outputs/0/name must begin with a letter or an underscore`},
		"output's name":     {"{name: url}", "{}", `m.yaml:10:5: /outputs/0/name is required (required)`},
		"outputs twice":     {"{name: url}", "{name: url}\n  - {name: url}", `m.yaml:11:12: /outputs/1/name must be a name of its own, found "url" as of /outputs/0/name (unique)`},
	} {
		text := strings.Replace(good, c.old, c.with, 1)
		if got := found(t, text, ""); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestEverythingWrongIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("Queue", "''", "1.3.0\ndep", "x\ndep", "terraform", "y", "acme/queue\n", "-\n", "{name: url}", "{name: 1}").Replace(good)
	if got := found(t, strings.Replace(text, "type: -\n", "type: '-'\n", 1), ""); strings.Count(got, "\n") != 0 || !strings.Contains(got, "/outputs/0/name must be a string") {
		t.Errorf("of what is not of its type: %s", got)
	}
	text = strings.NewReplacer("Queue", "''", "1.3.0\ndep", "x\ndep", "terraform", "y", "acme/queue\n", "'-'\n", "{name: url}", "{name: '1'}", "min: 0", "min: z").Replace(good)
	got := found(t, text, "")
	for _, pointer := range []string{"/name", "/type", "/version", "/deploymentType", "/outputs/0/name", "/inputs/0/min"} {
		if !strings.Contains(got, ": "+pointer+" ") {
			t.Errorf("%s is not among\n%s", pointer, got)
		}
	}
}

func TestAVersionOfTheCommandGoesBeforeTheManifests(t *testing.T) {
	t.Parallel()
	without := strings.Replace(good, "version: 1.3.0\n", "", 1)
	if got := found(t, without, ""); !strings.HasPrefix(got, "m.yaml:1:1: /version must be a semantic version") {
		t.Errorf("without a version: %s", got)
	}
	if got := found(t, without, "2.0.0"); got != "" {
		t.Errorf("with one of the command: %s", got)
	}
	if got := found(t, good, "two"); !strings.HasPrefix(got, "--version: /version must be a semantic version") {
		t.Errorf("with a bad one: %s", got)
	}
}

func TestReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	m, err := manifest.Read("m.yaml", []byte(good+"  - {name: key, description: A key., secret: true}\ndescription: It queues.\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %s %s %s %s %s %s %s %v %v", m.Type, m.Name, *m.Description, m.Version, m.DeploymentType, *m.Source.URL, *m.Source.Ref,
		m.Inputs.JSON(), m.Outputs[0].Secret, m.Outputs[1].Secret)
	if want := `acme/queue Queue It queues. 1.3.0 terraform https://git.example.com/acme/queue v1.3.0 ` +
		`[{"id":"hidden_for","label":"Hidden for","type":"number","min":0,"max":43200,"default":30}] false true`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestTheFirstManifestCanBePublished(t *testing.T) {
	t.Parallel()
	files := manifest.Init("acme/queue", "Queue: of 'orders'", "aws:ecs")
	golden(t, "first.yaml", files[0].Text)
	if files[0].Path != "slipway-module.yaml" || files[1].Path != ".slipway/module.schema.json" {
		t.Errorf("the files are %s and %s", files[0].Path, files[1].Path)
	}
	if got := found(t, string(files[0].Text), ""); got != "" {
		t.Errorf("found in it: %s", got)
	}
	d, err := document.Read("m.yaml", files[0].Text)
	if err != nil {
		t.Fatal(err)
	}
	if got := found(t, string(d.JSON()), ""); got != "" {
		t.Errorf("found in its JSON: %s", got)
	}
	schema := parsed(t, files[1].Text)
	if why := schema.refuses(schema.root, generic(t, d.JSON())); why != "" {
		t.Errorf("its schema refuses it: %s", why)
	}
	for _, change := range [][2]string{{"module/v1", "v1"}, {"terraform", "tofu"}, {"name:", "nam:"}, {"min: 0", "min: low"}, {"ref:", "reff:"}, {"{name: url}", "{}"}} {
		d, err := document.Read("m.yaml", []byte(strings.Replace(good, change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		if schema.refuses(schema.root, generic(t, d.JSON())) == "" {
			t.Errorf("the schema takes %s", change[1])
		}
	}
}

func TestAnnotationsEscape(t *testing.T) {
	t.Parallel()
	f := manifest.Finding{File: "a,b:c.yaml", Position: document.Position{Line: 7, Column: 13}, Pointer: "/x", Message: "must be 100%\r\n, found 1", Code: "max"}
	if got, want := f.Annotation(), "::error file=a%2Cb%3Ac.yaml,line=7,col=13::/x must be 100%25%0D%0A, found 1 (max)"; got != want {
		t.Errorf("got %s", got)
	}
	f.Warning = true
	if got, want := f.String(), "a,b:c.yaml:7:13: warning: /x must be 100%\r\n, found 1 (max)"; got != want {
		t.Errorf("got %s", got)
	}
	f.Position, f.File = document.Position{}, "--set x"
	if got, want := f.Annotation(), "::warning::--set x: /x must be 100%25%0D%0A, found 1 (max)"; got != want {
		t.Errorf("got %s", got)
	}
	if errs := (manifest.Findings{f, {Message: "x"}}).Errors(); len(errs) != 1 || errs[0].Warning {
		t.Errorf("the errors are %v", errs)
	}
}

func TestAManifestIsToldFromOtherFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		good: true, "slipway: module/v1": true, `{"slipway":"module/v1","x":1}`: true,
		"slipway: module/v2": false, "slipway: [module/v1]": false, "a: 1": false, "": false, "- a": false, "slipway: module/v1\nslipway: module/v1": false,
	} {
		if got := manifest.Is("m.yaml", []byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
