package document_test

import (
	"strings"
	"testing"

	"slipway/internal/edge/gqlhttp/document"
)

func TestTypenameIsAStringThatIsNeverNullWhereFieldsMerge(t *testing.T) {
	t.Parallel()
	check := checker(served(t), document.Config{})
	for other, want := range map[string]string{
		"description": "their types String! and String differ", "id": "their types String! and ID! differ",
		"status": "their types String! and DeploymentStatus! differ", "__typename": "",
	} {
		err := check(`{ node(id: "prj_1") { ... on Project { a: __typename } ... on Deployment { a: ` + other + ` } } }`)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("__typename beside %s: %v, want %q", other, err, want)
		}
	}
	if err := check(`{ node(id: "prj_1") { ... on Deployment { a: __typename } ... on Project { a: name } } }`); err != nil {
		t.Errorf("__typename beside a String!: %v", err)
	}
}
