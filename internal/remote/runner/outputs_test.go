package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"slipway/ent/deploymentoutput"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

// made returns the outputs of a deployment as they are stored, "" for none.
func made(t *testing.T, w *worldtest.World, id string) string {
	t.Helper()
	all, err := w.Store.Client.DeploymentOutput.Query().Where(deploymentoutput.DeploymentID(id)).All(w.Acme.As(actor.Viewer))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		return ""
	}
	return all[0].Content
}

func TestTheLastOutputsOfASuccessAreSent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	const lost = "The outputs that the program printed are not taken: "
	for i, c := range []struct {
		program, made string
		logs, events  []string
	}{
		{`echo '{"outputs": {"a": 1}}'; echo between; echo '{"outputs": {"z": 1.50, "a": {"<b>": [null]}, "image": "web:1.4.2"}}'; echo last`,
			`{"z":1.50,"a":{"<b>":[null]},"image":"web:1.4.2"}`, []string{"between", "last"}, nil},
		{`echo before; echo '{"outputs": {"a": 1}}'`, `{"a":1}`, []string{"before"}, nil},
		{`echo '{"outputs":{}}'`, `{}`, nil, nil},
		{`echo '{"outputs": {"a": 1}}'; echo '{"outputs": {"a": 2'`, `{"a":1}`, nil, []string{lost + "the line is not JSON. Print the object on one line."}},
		{`printf '\357\273\277{"outputs": {"a": 1}}\n'`, `{"a":1}`, nil, nil},
		{`printf '{\n  "outputs": {\n    "a": 1\n  }\n}\n'`, "", []string{"{", `  "outputs": {`, `    "a": 1`, "  }", "}"},
			[]string{lost + "they are over several lines. Print the object on one line."}},
		{`printf 'x\n  "outputs": 1\n'`, "", []string{"x", `  "outputs": 1`}, nil},
		{`echo '{"outputs": ["a"]}'`, "", nil, []string{lost + "they are no object."}},
		{`printf '{"outputs": {"a": "'; head -c 140000 /dev/zero | tr '\0' x; echo '"}}'`, "", nil, []string{lost + "the line is too long, by 8950 bytes."}},
		{`echo '{"outputs": {"a": 1}, "level": "info"}'; echo '{"outputs": {"a": 1}}' >&2`, "",
			[]string{`{"outputs": {"a": 1}, "level": "info"}`, `! {"outputs": {"a": 1}}`}, nil},
	} {
		d := p.Deploy(t, p.NewInstance(t, fmt.Sprint("of-", i)).ID, `{"image":"web:1"}`)
		runs, _ := config(t, w, c.program)
		once(t, runs)
		said := logs(t, w, d.ID)
		slices.Sort(said)
		slices.Sort(c.logs)
		if got := made(t, w, d.ID); got != c.made || !slices.Equal(said, c.logs) || !slices.Equal(messages(t, w, d.ID), c.events) || read(t, w, d.ID).Status != "SUCCEEDED" {
			t.Errorf("%.80s: %s, %q, %q\nwant %s, %q, %q", c.program, got, said, messages(t, w, d.ID), c.made, c.logs, c.events)
		}
	}
	failed := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	runs, _ := config(t, w, `echo '{"outputs": {"a": 1}}'; exit 3`)
	once(t, runs)
	if got := read(t, w, failed.ID); made(t, w, failed.ID) != "" || got.Status != "FAILED" || got.Error.Message != "The program ended with exit code 3." {
		t.Errorf("%s: %+v", got.Status, got.Error)
	}
}

func TestNoSuccessIsLostByItsOutputs(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	older := newProxy(t, w.URL, always(none))
	older.refused, older.refusal = `"outputs"`, fault.DocumentVariablesInvalid
	many := make([]string, 350)
	for i := range many {
		many[i] = fmt.Sprintf(`"n.%d":0`, i)
	}
	for i, c := range []struct{ server, outputs, made, event string }{
		{w.URL, `{"a":1.0,"b.c":2,"d/e":3,"f":{}}`, `{"a":1.0,"f":{}}`, "The server rejected these outputs: The input is not valid: 2 violations. (slipway:Request:INVALID): b.c, d/e."},
		{w.URL, `{"b.c":2}`, "", "The server rejected the outputs: "},
		{w.URL, `{"a":1,"a":2}`, "", "The server rejected the outputs: "},
		{w.URL, `{"a":1,` + strings.Join(many, ",") + `}`, "", "The server rejected the outputs: "},
		{older.url, `{"a":1}`, "", "The server rejected the outputs: refused (slipway:Document:VARIABLES_INVALID)"},
	} {
		d := p.Deploy(t, p.NewInstance(t, fmt.Sprint("of-", i)).ID, `{"image":"web:1"}`)
		runs, _ := config(t, w, `echo '{"outputs": `+c.outputs+`}'`)
		runs.Server = c.server
		once(t, runs)
		said := messages(t, w, d.ID)
		if got := made(t, w, d.ID); got != c.made || len(said) == 0 || !strings.HasPrefix(said[len(said)-1], c.event) || read(t, w, d.ID).Status != "SUCCEEDED" {
			t.Errorf("%.80s: %s, %q, want %s, %q", c.outputs, got, said, c.made, c.event)
		}
	}
}

func TestTheNextRunnerSendsTheOutputsThatTheLastHasRead(t *testing.T) {
	t.Parallel()
	s := newStage(t, `echo '{"outputs": {"a": 1.50}}'; echo started; until [ -e "$STEPS/1" ]; do sleep 0.02; done; echo finished; touch "$STEPS/ended"`)
	first := launch(t, s.w, s.c)
	says(t, s.w, s.id, "started")
	_ = first.end(syscall.SIGKILL)
	s.tell(t, "1")
	s.await(t, "ended")
	start(t, s.c)
	until(t, "it is completed", func() bool { return read(t, s.w, s.id).CompletedAt != nil })
	if got := made(t, s.w, s.id); got != `{"a":1.50}` || !slices.Equal(logs(t, s.w, s.id), []string{"started", "finished"}) {
		t.Errorf("%s, %q", got, logs(t, s.w, s.id))
	}
}
