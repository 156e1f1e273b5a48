package jsregexp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"slipway/internal/base/jsregexp"
)

// trial is a pattern with texts, and what node answered.
type trial struct {
	Pattern  string   `json:"pattern"`
	Samples  []string `json:"samples"`
	Accepted bool     `json:"accepted"`
	Unicode  bool     `json:"unicode"`
	Matches  string   `json:"matches"`
}

// trials reads the two files beside generate.mjs and record.mjs, which say how they are made.
func trials(t testing.TB) []trial {
	t.Helper()
	patterns, answers := lines(t, "testdata/patterns.jsonl"), lines(t, "testdata/answers.jsonl")
	var recorder struct {
		Node string `json:"node"`
	}
	decode(t, answers[0], &recorder)
	answers = answers[1:]
	if len(patterns) != len(answers) || len(patterns) < 7000 || recorder.Node == "" {
		t.Fatalf("%d patterns and %d answers of node %q", len(patterns), len(answers), recorder.Node)
	}
	all := make([]trial, len(patterns))
	for i := range all {
		decode(t, patterns[i], &all[i])
		decode(t, answers[i], &all[i])
	}
	return all
}

func lines(t testing.TB, name string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		all = append(all, bytes.Clone(s.Bytes()))
	}
	return all
}

func decode(t testing.TB, line []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(line, into); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
}

func TestPatternsAreTakenAndMatchAsInNode(t *testing.T) {
	t.Parallel()
	e := engine(t, 2)
	all := trials(t)
	matched := 0
	for _, tr := range all {
		if err := compile(t, e, tr.Pattern); (err == nil) != tr.Accepted {
			t.Errorf("Compile(%q) = %v, node accepts: %t", tr.Pattern, err, tr.Accepted)
			continue
		}
		if !tr.Accepted {
			continue
		}
		for i, text := range tr.Samples {
			got, err := test(t, e, tr.Pattern, text)
			if want := tr.Matches[i] == '1'; got != want || err != nil {
				t.Errorf("Test(%q, %q) = %t, %v, node: %t", tr.Pattern, text, got, err, want)
			}
			matched++
		}
	}
	t.Logf("%d patterns, %d matches", len(all), matched)
}

func TestWarningsTellWhichPatternsTheUFlagRefusesInNode(t *testing.T) {
	t.Parallel()
	e := engine(t, 2)
	for _, tr := range trials(t) {
		warnings, err := e.Warnings(t.Context(), tr.Pattern)
		if want := tr.Accepted && !tr.Unicode; refusedByU(warnings) != want || err != nil {
			t.Errorf("Warnings(%q) = %q, %v, node refuses it with u only: %t", tr.Pattern, warnings, err, want)
		}
	}
}

func refusedByU(warnings []string) bool {
	for _, w := range warnings {
		if strings.HasPrefix(w, "u flag would refuse it: ") {
			return true
		}
	}
	return false
}

func engine(t testing.TB, size int) *jsregexp.Engine {
	t.Helper()
	e, err := jsregexp.New(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// compile returns why there is no such pattern.
func compile(t testing.TB, e *jsregexp.Engine, pattern string) error {
	t.Helper()
	_, err := e.Compile(t.Context(), pattern, math.MaxInt)
	return err
}

// test reports whether a pattern matches, in as many steps as a match may take.
func test(t testing.TB, e *jsregexp.Engine, pattern, text string) (bool, error) {
	t.Helper()
	matches, _, err := e.Test(t.Context(), pattern, text, jsregexp.MaxSteps)
	return matches, err
}
