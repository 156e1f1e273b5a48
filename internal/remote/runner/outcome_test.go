package runner_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestProgramThatEndsWellMakesTheDeploymentLive(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		before := p.Succeeded(t)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:hidden-value","replicas":3.0}`)
		c, log := config(t, w, "cat >input.json; env >environment; echo done")
		once(t, c)
		if got := read(t, w, d.ID); got.Status != "SUCCEEDED" || *got.Runner != "runner" {
			t.Errorf("%s by %s", got.Status, *got.Runner)
		}
		if live := w.Store.Client.ModuleInstance.GetX(w.Acme.As("viewer"), p.Instance.ID).LiveDeploymentID; *live != d.ID {
			t.Errorf("%s is live", *live)
		}
		if got := logs(t, w, d.ID); !slices.Equal(got, []string{"done"}) {
			t.Errorf("%q", got)
		}
		dir := filepath.Join(c.WorkDir, p.Instance.ID)
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		var in struct {
			Deployment map[string]any
			Release    struct {
				ID, Digest    string
				Inputs        json.RawMessage
				Artifact      map[string]any
				ModuleVersion struct {
					Version          string
					ModuleDefinition map[string]string
				}
			}
			Live struct{ DeploymentID string }
		}
		text, _ := os.ReadFile(filepath.Join(dir, "input.json"))
		if err := json.Unmarshal(text, &in); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if in.Deployment["id"] != d.ID || in.Deployment["fence"] != "2" || in.Deployment["moduleInstanceName"] != "web" || in.Deployment["triggerSource"] != "api" ||
			in.Release.ID != *d.ReleaseID || in.Release.Artifact["revision"] != 7.0 || in.Live.DeploymentID != before.ID ||
			in.Release.ModuleVersion.Version != "1.4.0" || in.Release.ModuleVersion.ModuleDefinition["type"] != "web" ||
			!strings.Contains(string(in.Release.Inputs), `"image":"web:hidden-value"`) {
			t.Errorf("the program read %s", text)
		}
		environment, _ := os.ReadFile(filepath.Join(dir, "environment"))
		var ours []string
		for line := range strings.Lines(string(environment)) {
			if strings.HasPrefix(line, "SLIPWAY_") {
				ours = append(ours, strings.TrimSpace(line))
			}
		}
		slices.Sort(ours)
		if diff := cmp.Diff([]string{
			"SLIPWAY_ACTION=apply", "SLIPWAY_DEPLOYMENT_ID=" + d.ID, "SLIPWAY_ENVIRONMENT_ID=" + p.Environment.ID, "SLIPWAY_FENCE=2", "SLIPWAY_INSTANCE_ID=" + p.Instance.ID,
			"SLIPWAY_MODULE_VERSION=1.4.0", "SLIPWAY_ORGANIZATION_ID=" + w.Acme.ID, "SLIPWAY_PROJECT_ID=" + p.Project.ID,
			"SLIPWAY_RELEASE_DIGEST=" + in.Release.Digest, "SLIPWAY_RELEASE_ID=" + *d.ReleaseID, "SLIPWAY_STOP=group", "SLIPWAY_TRIGGER=api",
		}, ours); diff != "" {
			t.Error(diff)
		}
		for _, secret := range []string{c.Token, "hidden-value", "lease_"} {
			if strings.Contains(log.String(), secret) {
				t.Errorf("the log has %s", secret)
			}
		}
	})
}

func TestProgramThatFailsLeavesWhatItSaidLast(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	var lastTwenty []string
	for i := 11; i <= 30; i++ {
		lastTwenty = append(lastTwenty, fmt.Sprint("mistake ", i))
	}
	for command, want := range map[string][2]string{
		`i=1; while [ $i -le 30 ]; do echo "mistake $i" >&2; i=$((i+1)); done; exit 3`: {"The program ended with exit code 3.", strings.Join(lastTwenty, "\n")},
		`echo last >&2; kill -9 $$`: {"The program was ended by signal 9 (killed).", "last"},
		`nowhere/to-be-found`:       {"The program ended with exit code 127.", "nowhere/to-be-found: not found"},
	} {
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		c, _ := config(t, w, command)
		once(t, c)
		got := read(t, w, d.ID)
		if got.Status != "FAILED" || got.Error.Code != string(fault.DeploymentFailed) || got.Error.Message != want[0] ||
			!strings.HasSuffix(got.Error.Description, want[1]) || strings.Contains(got.Error.Description, "mistake 10\n") {
			t.Errorf("%s: %s %+v", command, got.Status, got.Error)
		}
	}
}

func TestDescriptionOfAFailureIsBounded(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	c, _ := config(t, w, `head -c 300000 /dev/zero | tr '\0' 'x' >&2; printf '\nzero \000 and \377 end' >&2; exit 1`)
	once(t, c)
	if got := read(t, w, d.ID).Error.Description; len(got) > 4096 || got != "zero \uFFFD and \uFFFD end" && !strings.HasSuffix(got, "x\nzero \uFFFD and \uFFFD end") {
		t.Errorf("%d bytes: …%q", len(got), got[max(0, len(got)-40):])
	}
}

func TestThousandLinesAreReportedInOrder(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		c, _ := config(t, w, `i=1; while [ $i -le 1000 ]; do echo "line $i"; i=$((i+1)); done`)
		once(t, c)
		var want []string
		for i := 1; i <= 1000; i++ {
			want = append(want, fmt.Sprint("line ", i))
		}
		if diff := cmp.Diff(want, logs(t, w, d.ID)); diff != "" || read(t, w, d.ID).Status != "SUCCEEDED" {
			t.Error(diff)
		}
	})
}

func TestLinesOfKnownFormAreEventsAndReports(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	c, _ := config(t, w, `cat >/dev/null
echo '{"currentStep": 1, "totalSteps": 2, "lifecycleStage": "SCALE_UP", "message": "first", "startedAt": "2026-03-01T09:30:00Z"}'
echo '{"report": {"externalDeploymentId": "ext-1", "resourceName": "web", "resourceArn": "arn:x", "data": {"serviceDeploymentArn": "arn:sd"}}}'
echo
echo '{"level": "info", "message": "not an event"}'
echo '{"report": {"leaseId": "stolen"}}'
echo '{"currentStep": "two"}'
echo '{"message": null, "startedAt": null}'
echo '{"report": {"data": {"clusterArn": 5}}}'
echo '{}'
printf 'a \000 b \377 c\r\n'
head -c 200000 /dev/zero | tr '\0' 'y'
printf '\nno newline'`)
	once(t, c)
	got := read(t, w, d.ID)
	if got.Status != "SUCCEEDED" || *got.ExternalDeploymentID != "ext-1" || *got.ResourceName != "web" || *got.ResourceArn != "arn:x" {
		t.Errorf("%+v", got)
	}
	data, err := got.Data.Data()
	if err != nil || *data.ServiceDeploymentARN != "arn:sd" {
		t.Errorf("%v, %v", data, err)
	}
	if e := data.Events[0]; *e.CurrentStep != 1 || *e.LifecycleStage != "SCALE_UP" || *e.StartedAt != "2026-03-01T09:30:00Z" {
		t.Errorf("%+v", e)
	}
	said := messages(t, w, d.ID)
	const refused = "The server refused what the program reported: "
	want := []string{"first", refused, refused, refused}
	for i, s := range said {
		if strings.HasPrefix(s, refused) {
			t.Log(s)
			said[i] = refused
		}
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	want = []string{"", `{"level": "info", "message": "not an event"}`, `{"report": {"leaseId": "stolen"}}`, "{}", "a \uFFFD b \uFFFD c"}
	for range 8 {
		want = append(want, strings.Repeat("y", 16<<10))
	}
	want = append(want, "The line goes on for 68928 bytes, which are not reported.", "no newline")
	if diff := cmp.Diff(want, logs(t, w, d.ID)); diff != "" {
		t.Error(diff)
	}
}

func TestAReportThatNamesAnothersServiceIsRefusedAndTheProgramGoesOn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	p.Succeeded(t) // has the service
	d := p.Deploy(t, p.NewInstance(t, "worker").ID, `{"image":"web:1"}`)
	c, _ := config(t, w, `echo '{"report": {"data": {"serviceArn": "arn:aws:ecs:eu-west-1:123456789012:service/main/web"}}}'
echo '{"message": "goes on"}'`)
	once(t, c)
	if got := read(t, w, d.ID); got.Status != "SUCCEEDED" {
		t.Errorf("%s: %+v", got.Status, got.Error)
	}
	said := messages(t, w, d.ID)
	if len(said) != 2 || !strings.Contains(said[0], "slipway:Deployment:RESOURCE_TAKEN") || said[1] != "goes on" {
		t.Errorf("%q", said)
	}
}

func TestWhatTheProgramLeavesRunningIsStoppedAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	c, _ := config(t, w, `rm -f away; setsid sh -c 'touch away; exec sleep 10' & exec 4>"$ALIVE"; sleep 600 &
until [ -e away ]; do sleep 0.02; done; echo started`)
	environ := c.Environ
	for range 2 { // what is away has the folder open, and its lock
		pipe, gone := testkit.Lifeline(t)
		c.Environ = append(environ, "ALIVE="+pipe)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		once(t, c)
		testkit.MustEnd(t, gone)
		if got := logs(t, w, d.ID); !slices.Equal(got, []string{"started"}) || read(t, w, d.ID).Status != "SUCCEEDED" {
			t.Errorf("%q", got)
		}
	}
}

func TestProgramThatIsFasterThanTheServerIsHeldUp(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	w.Deploy.Execution.LeaseTime = 6 * time.Second
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	between := newProxy(t, w.URL, func(operation string, n int) trouble {
		if operation == "reportDeployment" {
			return lostRequest
		}
		return none
	})
	c, _ := config(t, w, `seq 1000000; touch finished`)
	c.Server = between.url
	start(t, c)
	until(t, "it reports in vain", func() bool { return between.count("reportDeployment") > 4 })
	if _, err := os.Stat(filepath.Join(c.WorkDir, p.Instance.ID, "finished")); err == nil {
		t.Error("the program was not held up")
	}
	if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
		t.Fatal(err)
	}
	between.set(w.URL, always(none))
	until(t, "it has ended", func() bool { return read(t, w, d.ID).Status == "CANCELED" })
}
