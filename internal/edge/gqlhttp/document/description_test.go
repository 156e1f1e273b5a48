package document_test

import (
	"strings"
	"testing"

	"slipway/graph/scalar"
	"slipway/internal/edge/gqlhttp/document"
)

func TestADescriptionHasNoHalfOfASurrogatePair(t *testing.T) {
	t.Parallel()
	check := checker(document.StandardSchema(served(t)), document.Config{Introspection: true, Scalars: scalar.Checks()})
	for name, c := range map[string]struct {
		text    string
		refused bool
	}{
		"of an operation":                {`"\ud800" query A { __typename }`, true},
		"the other half":                 {`"a \udc00 b" query A { __typename }`, true},
		"of a variable":                  {`query A("\ud83d" $a: Int) { nodes(ids: []) @include(if: true) { id } a: __typename }`, true},
		"of a fragment":                  {`query A { ...f } "\ud800" fragment f on Query { __typename }`, true},
		"a whole pair":                   {`"\ud83d\ude80" query A { __typename }`, false},
		"the replacement itself":         {`"\ufffd" query A { __typename }`, false},
		"an escaped backslash":           {`"\\ud800 \ufffd" query A { __typename }`, false},
		"a block, which escapes nothing": {`"""\ud800 ` + "\uFFFD" + `""" query A { __typename }`, false},
		"what is not UTF-8":              {"\"\xff\" query A { __typename }", true},
	} {
		err := check(c.text)
		if refused := err != nil && strings.Contains(err.Error(), "surrogate"); refused != c.refused || !c.refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
