package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/edge/gqlhttp/document"
)

// parsed returns a function that returns the document of a text, which is valid.
func parsed(t *testing.T, schema *ast.Schema, config document.Config) func(text string) *document.Document {
	t.Helper()
	documents := document.New(schema, config)
	return func(text string) *document.Document {
		doc, errs := documents.Get(text)
		if errs != nil {
			t.Fatal(errs)
		}
		return doc
	}
}

func TestADocumentInUseIsParsedOnce(t *testing.T) {
	t.Parallel()
	get := parsed(t, served(t), document.Config{Kept: 3})
	used, unused := get("{ used: __typename }"), get("{ unused: __typename }")
	for i := range 9 {
		get(fmt.Sprintf("{ other%d: __typename }", i))
		if get("{ used: __typename }") != used {
			t.Fatalf("a document in use was parsed again after %d others", i+1)
		}
	}
	if get("{ unused: __typename }") == unused {
		t.Error("a document out of use was kept")
	}
}

func TestAsManyDocumentsAreKeptAsConfigured(t *testing.T) {
	t.Parallel()
	for configured, want := range map[int]int{0: 1000, 1: 1, 7: 7, -1: 1} {
		get := parsed(t, served(t), document.Config{Kept: configured})
		text := func(i int) string { return fmt.Sprintf("{ n%d: __typename }", i) }
		first := get(text(0))
		for i := range want - 1 {
			get(text(i + 1))
		}
		if get(text(0)) != first {
			t.Errorf("Kept %d: the first of %d documents was forgotten", configured, want)
		}
		for i := range want {
			get(text(i + 1))
		}
		if get(text(0)) == first {
			t.Errorf("Kept %d: a document was kept behind %d others", configured, want)
		}
	}
}

func TestDocumentsAreKeptUpToWhatTheyTakeInMemory(t *testing.T) {
	t.Parallel()
	get := parsed(t, served(t), document.Config{})
	first := get("{ __typename }")
	for i := range 200 {
		get("{ __typename } #" + fmt.Sprint(i))
	}
	if get("{ __typename }") != first {
		t.Error("a document was forgotten among 200 small ones")
	}
	alone := "{ __typename } #" + strings.Repeat("x", 9<<20)
	if most := get(alone); get(alone) == most || get("{ __typename }") != first {
		t.Error("a document that takes 18 MiB was kept, or others were forgotten for it")
	}
	for i := range 50 {
		get("{" + strings.Repeat(" __typename", 988) + "}" + fmt.Sprint("#", i))
	}
	if get("{ __typename }") == first {
		t.Error("50 documents that take 400 KiB each are kept")
	}
}
