package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// documents writes a file of trusted documents.
func documents(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "documents.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileOfTrustedDocumentsIsReadBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	const good = `"good": "{ viewer { name } }"`
	for text, says := range map[string]string{
		``:                            "not JSON",
		`{`:                           "not JSON",
		`[]`:                          "want an object of documents by their ids, found an array",
		`{` + good + `,` + good + `}`: "not JSON as it must be",
		`{"a": {"query": "{ viewer { name } }"}}`:                     `document "a": want the text of a GraphQL document, found an object`,
		`{"": "{ viewer { name } }"}`:                                 `the id "": want 1 to 256 bytes, found 0`,
		`{"` + strings.Repeat("x", 257) + `": "{ viewer { name } }"}`: "want 1 to 256 bytes, found 257",
		`{"a": "{ viewer {\n name }"}`:                                `document "a": line 2, column`,
		`{` + good + `, "a": "{ viewer {\n rank } }"}`:                `document "a": line 2, column 2: Cannot query field "rank" on type "Viewer"`,
		`{"a": "{ viewer { rank } }", "b": "{ nothing }"}`:            `document "b": line 1, column 3`,
		`{"a": ""}`: `document "a": `,
		`{"a": "{ viewer { name } }` + strings.Repeat(" ", 16<<10) + `"}`:          `document "a": want at most 16384 bytes, found`,
		`{"a": "{ ` + strings.Repeat("viewer { name } ", 400) + `}"}`:              `document "a": line 1`,
		`{` + strings.Repeat(`"x": "{ viewer { name } }", `, 200_000) + good + `}`: "want at most 4194304 bytes, found more",
	} {
		path := documents(t, text)
		o := run(t, nil, "serve", "--database", file(t), "--trusted-documents", path)
		if last := lastLine(o.stderr); o.code != 2 || !strings.HasPrefix(last, "slipway: --trusted-documents: "+path) || !strings.Contains(last, says) {
			t.Errorf("%.60s: exit code %d, %.300q, want %q", text, o.code, last, says)
		}
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func TestManyWrongDocumentsAreToldOfTogether(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprintf(`"d%d": "{ nothing }"`, i))
	}
	o := run(t, nil, "serve", "--database", file(t), "--trusted-documents", documents(t, "{"+strings.Join(all, ",")+"}"))
	if n := strings.Count(o.stderr, "document "); o.code != 2 || n != 10 {
		t.Errorf("exit code %d, %d documents are told of: %s", o.code, n, o.stderr)
	}
}

func TestServeRunsTheDocumentsOfTheFile(t *testing.T) {
	t.Parallel()
	path := documents(t, `{"who": "query { viewer { name } }"}`)
	s := serve(t, "--database", file(t), "--trusted-documents", path, "--trusted-only")
	for query, want := range map[string]int{"documentId=who": 200, "documentId=what": 404, "query={__typename}": 403} {
		if got := status(t, s.API+"/graphql?"+query, ""); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}
