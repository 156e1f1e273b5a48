package graph_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// documentCase is a document and what becomes of it. In testdata it has the form
//
//	=== title
//	the document, or go: and a Go string
//	--- what becomes of it, "for" the operationName if one is sent
//	line:column,line:column the beginning of an error's message
//
// with a line for each error that must be told. A "-" stands for an error of no place. A line without a
// column is for places that the parser counts from behind their first character.
type documentCase struct {
	title, text, outcome, operation string
	errors                          []string
}

func documentCases(t *testing.T, file string) (cases []documentCase) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(content), "\n=== ")[1:] {
		title, rest, _ := strings.Cut(part, "\n")
		text, rest, found := strings.Cut(rest, "\n--- ")
		if quoted, escaped := strings.CutPrefix(text, "go: "); escaped {
			text, err = strconv.Unquote(quoted)
		}
		if err != nil || !found {
			t.Fatalf("%s: %s: not a case: %v", file, title, err)
		}
		lines := strings.Split(strings.TrimSpace(rest), "\n")
		outcome, operation, _ := strings.Cut(lines[0], " for ")
		cases = append(cases, documentCase{filepath.Base(file) + ": " + title, text, outcome, operation, lines[1:]})
	}
	return cases
}

// told is an answer's errors and whether it has data.
type told struct {
	Errors []struct {
		Message    string
		Locations  []struct{ Line, Column int }
		Extensions struct{ Code string }
	}
	Data json.RawMessage
}

// lines are the errors in the form of documentCase.
func (a told) lines() (lines []string) {
	for _, e := range a.Errors {
		var places []string
		for _, at := range e.Locations {
			places = append(places, fmt.Sprintf("%d:%d", at.Line, at.Column))
		}
		if places == nil {
			places = []string{"-"}
		}
		lines = append(lines, strings.Join(places, ",")+" "+e.Message)
	}
	return lines
}

// tells reports whether a line is one of the expected error.
func tells(line, want string) bool {
	at, message, _ := strings.Cut(want, " ")
	place, found, _ := strings.Cut(line, " ")
	if !strings.ContainsAny(at, ":-") {
		place, _, _ = strings.Cut(place, ":")
	}
	return place == at && strings.HasPrefix(found, message)
}

func (c documentCase) send(t *testing.T, w *worldtest.World, accept string) (answer told, status int) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": c.text, "operationName": c.operation})
	if err != nil {
		t.Fatal(err)
	}
	r := w.REST(t, http.MethodPost, "/graphql", w.Acme.Tokens[actor.Admin], string(body), map[string]string{"Accept": accept})
	if err := json.Unmarshal(r.Body, &answer); err != nil {
		t.Errorf("%s: %v: %s", c.title, err, r.Body)
	}
	return answer, r.Status
}

func (c documentCase) refused(t *testing.T, w *worldtest.World) {
	t.Helper()
	for accept, want := range map[string]int{"application/graphql-response+json": 400, "application/json": 200} {
		a, status := c.send(t, w, accept)
		if status != want || a.Data != nil || len(a.Errors) == 0 {
			t.Errorf("%s: %s: status %d, want %d; data %s; errors %q", c.title, accept, status, want, a.Data, a.lines())
		}
		for _, e := range a.Errors {
			if e.Extensions.Code != "slipway:Document:"+c.outcome {
				t.Errorf("%s: code %s, want %s: %s", c.title, e.Extensions.Code, c.outcome, e.Message)
			}
		}
		for _, line := range c.errors {
			if !slices.ContainsFunc(a.lines(), func(found string) bool { return tells(found, line) }) {
				t.Errorf("%s: the error %q is not among %q", c.title, line, a.lines())
			}
		}
	}
}

func TestInvalidDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	before, count := w.Rows(t), 0
	files, _ := filepath.Glob("testdata/invalid/*.txt")
	for _, file := range files {
		for _, c := range documentCases(t, file) {
			c.refused(t, w)
			count++
		}
	}
	if count < 300 {
		t.Errorf("%d documents were tried", count)
	}
	if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
		t.Errorf("what is refused has changed rows: %s", diff)
	}
}

func TestValidNeighboursOfInvalidDocumentsAreTaken(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	for _, c := range documentCases(t, "testdata/valid.txt") {
		if a, status := c.send(t, w, "application/graphql-response+json"); status != 200 || a.Data == nil || len(a.Errors) > 0 {
			t.Errorf("%s: status %d, errors %q", c.title, status, a.lines())
		}
	}
}
