package graph_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	"slipway/ent/moduleversion"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/runlog"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/inputvalidation/valuesource"
	"slipway/internal/test/worldtest"
)

// example is an operation of the documentation, with what it answers.
type example struct{ document, variables, answer string }

var exampleBlock = regexp.MustCompile("(?s)```(graphql|json variables|json)\n(.*?)```")

// examples reads the examples of a page: a document, its variables if it has any, and its answer.
func examples(t *testing.T, file string) []example {
	t.Helper()
	return examplesOf(contentOf(t, file))
}

func contentOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// examplesOf reads the examples of a text.
func examplesOf(text string) (list []example) {
	for _, block := range exampleBlock.FindAllStringSubmatch(text, -1) {
		if block[1] == "graphql" {
			list = append(list, example{document: block[2], variables: "{}"})
			continue
		}
		last := &list[len(list)-1]
		if block[1] == "json variables" {
			last.variables = block[2]
		} else {
			last.answer = block[2]
		}
	}
	return list
}

func TestTheExamplesOfTheDocumentationRun(t *testing.T) {
	t.Parallel()
	list := examples(t, "../docs/graphql.md")
	if len(list) < 9 {
		t.Fatalf("only %d examples", len(list))
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		ids := strings.NewReplacer("dep_…", printed(t, w, p).ID, "prj_…", p.Project.ID)
		p.Succeeded(t)
		p.Failed(t)
		cursor := ""
		for _, e := range list {
			variables := strings.Replace(ids.Replace(e.variables), "the endCursor of the page before", cursor, 1)
			body := run(t, w, w.Acme.Tokens[actor.Admin], e.document, variables)
			if found := endCursor.FindSubmatch(body); found != nil {
				cursor = string(found[1])
			}
			e.check(t, body)
		}
	})
}

// check compares an answer with what is shown of it.
func (e example) check(t *testing.T, body []byte) {
	t.Helper()
	var want, got any
	if err := json.Unmarshal([]byte(e.answer), &want); err != nil {
		t.Fatalf("the answer to %s: %v", e.document, err)
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	inOrder(got)
	inOrder(want)
	if wrong := lacks(got, want, ""); wrong != "" {
		t.Errorf("%s%s\n%s", e.document, wrong, body)
	}
	answered := got.(map[string]any)
	if shown := want.(map[string]any); shown["errors"] == nil && answered["errors"] != nil || shown["data"] == nil && answered["data"] != nil {
		t.Errorf("%s answers with more than is shown: %s", e.document, body)
	}
}

func TestTheChapterOfOutputsRuns(t *testing.T) {
	t.Parallel()
	_, chapter, _ := strings.Cut(contentOf(t, "../docs/inputs.md"), "\n## Outputs\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	list := examplesOf(chapter)
	if len(list) != 2 {
		t.Fatalf("%d examples", len(list))
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "network")
		publish, complete := list[0], list[1]
		publish.check(t, run(t, w, w.Acme.Tokens[actor.Admin], strings.Replace(publish.document, "mod_…", p.Definition.ID, 1), "{}"))
		version := w.Store.Client.ModuleVersion.Query().Where(moduleversion.Version("2.0.0")).OnlyX(w.Acme.As(actor.Admin))
		d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
			InstanceID: p.Instance.ID, VersionID: version.ID, Inputs: strictjson.MustParse(`{}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		variables := fmt.Sprintf(`{"lease": %q}`, p.Claim(t, d))
		complete.check(t, run(t, w, w.Acme.Tokens[actor.Runner], strings.Replace(complete.document, "dep_…", d.ID, 1), variables))
	})
}

func TestTheGuideOfDefaultValueDefinitionsRuns(t *testing.T) {
	t.Parallel()
	list := examples(t, "../docs/defaults.md")
	for _, s := range valuesource.Sources() {
		shows := func(e example) bool { return strings.Contains(e.document, `dynamicValues(source: "`+s.Name+`"`) }
		if !slices.ContainsFunc(list, shows) {
			t.Errorf("there is no example of the source %s", s.Name)
		}
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "shop")
		ids := []string{"mod_…", p.Definition.ID, "prj_…", p.Project.ID, "env_…", p.Environment.ID}
		for _, e := range list {
			body := run(t, w, w.Acme.Tokens[actor.Admin], strings.NewReplacer(ids...).Replace(e.document), "{}")
			for _, found := range recordID.FindAllSubmatch(body, -1) {
				ids = append(ids, string(found[2])+"…", string(found[1]))
			}
			e.check(t, body)
		}
	})
}

// recordID is the id of a record in an answer, and its prefix.
var recordID = regexp.MustCompile(`"id":"((dvd_|mver_)[^"]*)"`)

// printed is a deployment that has succeeded, and whose program has printed a line.
func printed(t *testing.T, w *worldtest.World, p *worldtest.Fixture) *ent.Deployment {
	t.Helper()
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	lease, runner, at := p.Claim(t, d), w.Acme.As(actor.Runner), time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	if _, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{
		Sequence: new(int32(1)), Logs: []runlog.Line{{At: &at, Stream: runlog.Stdout, Text: "Applying the plan."}},
	}); err != nil {
		t.Fatal(err)
	}
	ended, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

var endCursor = regexp.MustCompile(`"endCursor":"([^"]*)"`)

// run returns the answer to an operation: of a subscription the first.
func run(t *testing.T, w *worldtest.World, token, document, variables string) []byte {
	t.Helper()
	if !strings.HasPrefix(document, "subscription") {
		return w.GraphQL(t, token, document, json.RawMessage(variables)).Body
	}
	body, _ := json.Marshal(map[string]any{"query": document, "variables": json.RawMessage(variables)})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/graphql", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:")); ok {
			return bytes.Clone(data)
		}
	}
	t.Fatalf("the stream ended before its first item: %v", lines.Err())
	return nil
}

// inOrder puts the errors of an answer in the order of their paths; the fields of a query fail in any.
func inOrder(answer any) {
	list, _ := answer.(map[string]any)["errors"].([]any)
	slices.SortFunc(list, func(a, b any) int {
		return strings.Compare(fmt.Sprint(a.(map[string]any)["path"]), fmt.Sprint(b.(map[string]any)["path"]))
	})
}

// lacks returns where an answer does not have what is shown of it, "" if it has all. Texts that are shown with … at
// their end stand for any that begin so; lists are shown whole.
func lacks(got, shown any, at string) string {
	switch shown := shown.(type) {
	case map[string]any:
		members, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: %v is no object", at, got)
		}
		for name, member := range shown {
			value, there := members[name]
			if !there {
				return fmt.Sprintf("%s/%s is not there", at, name)
			}
			if wrong := lacks(value, member, at+"/"+name); wrong != "" {
				return wrong
			}
		}
		return ""
	case []any:
		items, ok := got.([]any)
		if !ok || len(items) != len(shown) {
			return fmt.Sprintf("%s: %v, want %d items", at, got, len(shown))
		}
		for i, item := range shown {
			if wrong := lacks(items[i], item, fmt.Sprint(at, "/", i)); wrong != "" {
				return wrong
			}
		}
		return ""
	case string:
		if start, any := strings.CutSuffix(shown, "…"); any {
			if text, ok := got.(string); ok && strings.HasPrefix(text, start) {
				return ""
			}
		}
	}
	if got != shown {
		return fmt.Sprintf("%s: %v, want %v", at, got, shown)
	}
	return ""
}
