package runner_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// leaky is a program that prints its secrets in many ways.
const leaky = `cat
printf 'in two writes hunter'; sleep 0.1; printf 'two<canary>\n'
echo 'twice huntertwo<canary>huntertwo<canary>, and hidden-canary'
echo "$KEY"; echo 'in JSON hidden\"canary'; echo 'a pin 987654321, not 98765'
echo '{"message": "an event with huntertwo\u003ccanary>"}'
echo '{"report": {"resourceName": "hidden-canary", "data": {"n": [1.10, {"x": "hidden-canary"}]}}}'
head -c 131065 /dev/zero | tr '\0' 'y'; echo 'huntertwo<canary>'
echo 'why: huntertwo<canary>' >&2; head -c 4085 /dev/zero | tr '\0' 'z' >&2; echo 'huntertwo<canary>' >&2; exit 1`

func TestSecretsDoNotLeaveTheMachine(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	admin := w.Acme.As(actor.Admin)
	definition, _, err := w.Catalog.CreateDefinition(admin, catalog.NewDefinition{Name: "Leaky", Type: "leaky", Status: moduledefinition.StatusACTIVE})
	if err != nil {
		t.Fatal(err)
	}
	inputs := strictjson.MustParse(`[{"id":"password","type":"string","label":"L"},{"id":"privateKey","type":"text","label":"L"},
		{"id":"quotedSecret","type":"string","label":"L"},{"id":"secretPin","type":"number","label":"L"},{"id":"database","type":"string","label":"L"}]`)
	version, _, err := w.Catalog.PublishVersion(admin, module.NewVersion{
		DefinitionID: definition.ID, Version: "1.0.0", Kind: module.DeploymentTypeTerraform, Inputs: inputs,
	})
	if err != nil {
		t.Fatal(err)
	}
	instance, err := w.Catalog.CreateInstance(admin, catalog.NewInstance{EnvironmentID: p.Environment.ID, DefinitionID: definition.ID, Name: "leaky"})
	if err != nil {
		t.Fatal(err)
	}
	key := "first-key-canary\nshort\nsecond-key-canary"
	values, _ := json.Marshal(map[string]any{
		"password": "huntertwo<canary>", "privateKey": key, "quotedSecret": `hidden"canary`, "secretPin": 987654321,
		"database": "postgres://app:hidden-canary@db/app",
	})
	d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{InstanceID: instance.ID, VersionID: version.ID, Inputs: strictjson.MustParse(string(values))})
	if err != nil {
		t.Fatal(err)
	}

	between := newProxy(t, w.URL, always(none))
	c, log := config(t, w, leaky)
	var mu sync.Mutex
	var sent strings.Builder
	s := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		mu.Lock()
		sent.Write(body)
		mu.Unlock()
		if strings.Contains(string(body), "completeDeployment(") {
			isPrivate(t, filepath.Join(c.WorkDir, ".keepers"))
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		between.ServeHTTP(to, r)
	}))
	t.Cleanup(s.Close)
	c.Server, c.Environ = s.URL, append(c.Environ, "KEY="+key)
	once(t, c)

	for _, canary := range []string{"huntertwo", "canary", "987654321", "hunter\n"} {
		for name, text := range map[string]string{"what was sent": sent.String(), "the runner's log": log.String()} {
			if at := strings.Index(text, canary); at >= 0 {
				t.Errorf("%s has %s: …%s…", name, canary, text[max(0, at-60):min(len(text), at+60)])
			}
		}
	}
	var stdout, stderr []string
	for _, line := range logs(t, w, d.ID) {
		switch {
		case strings.HasPrefix(line, "! "):
			stderr = append(stderr, line)
		case strings.HasPrefix(line, "{"), strings.HasPrefix(line, "yyy"), line == "ed]", strings.HasPrefix(line, "The line goes on for"):
		default:
			stdout = append(stdout, line)
		}
	}
	want := []string{
		"in two writes [redacted]", "twice [redacted][redacted], and [redacted]", "[redacted]", "short", "[redacted]",
		"in JSON [redacted]", "a pin [redacted], not 98765",
	}
	if diff := cmp.Diff(want, stdout); diff != "" {
		t.Error(diff)
	}
	if len(stderr) != 2 || stderr[0] != "! why: [redacted]" || !strings.HasSuffix(stderr[1], "z[redacted]") {
		t.Errorf("standard error is %.80q", stderr)
	}
	got := read(t, w, d.ID)
	if !strings.HasPrefix(got.Error.Description, "zzz") || !strings.HasSuffix(got.Error.Description, "z[redacted]") {
		t.Errorf("the error says %.60s…", got.Error.Description)
	}
	if said := messages(t, w, d.ID); len(said) == 0 || said[0] != "an event with [redacted]" {
		t.Errorf("the events are %q", said)
	}
}

// isPrivate wants nobody else to read what is in a folder.
func isPrivate(t *testing.T, root string) {
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
