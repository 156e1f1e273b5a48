package document_test

import (
	"errors"
	"strings"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/document"
)

// limitOf returns the name of the limit that an error is about, empty for another or none.
func limitOf(err error) string {
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok || refusal.Code != fault.DocumentLimitExceeded {
		return ""
	}
	return refusal.Metadata["limit"].(string)
}

func TestTextInStringsAndCommentsIsNoBracket(t *testing.T) {
	t.Parallel()
	check := checker(tree(t), document.Config{})
	many := strings.Repeat("{[(@", 100)
	for _, query := range []string{
		`{ take(json: "` + many + `\"` + many + `") }`, `{ take(json: """` + many + ` \""" ` + many + `""") }`, "{ __typename } # " + many,
	} {
		if err := check(query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestCommentsAreTokens(t *testing.T) {
	t.Parallel()
	if err := checker(tree(t), document.Config{})("{ __typename }" + strings.Repeat("\n#", 1000)); limitOf(err) != "tokens" {
		t.Error(err)
	}
}

func TestIntrospectionNestsAsDeepAsItHasTo(t *testing.T) {
	t.Parallel()
	query := "{ __schema { types { fields { type " + nested(12, "{ ofType ", "{ name }", "}") + " } } } }"
	if err := checker(tree(t), document.Config{Introspection: true})(query); err != nil {
		t.Error(err)
	}
}

func TestFragmentsCountForTheirLimits(t *testing.T) {
	t.Parallel()
	check := checker(tree(t), document.Config{})
	for name, query := range map[string]string{
		"deep":   "{ cat { ...f } } fragment f on Animal " + nested(11, "{ mother ", "{ id }", "}"),
		"unused": "{ __typename } fragment f on Animal " + nested(12, "{ mother ", "{ id }", "}"),
	} {
		if err := check(query); limitOf(err) != "depth" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := check("{ ...f ...f ...f } fragment f on Query {" + repeat(15, " a%d: __typename") + " }"); err != nil {
		t.Errorf("an alias counts once, however often its fragment is spread: %v", err)
	}
}

func TestLongChainsOfFragmentsAreRefused(t *testing.T) {
	t.Parallel()
	check := checker(tree(t), document.Config{})
	if err := check(chain(80, "...f%[2]d")); err != nil {
		t.Error(err)
	}
	if err := check(chain(100, "...f%[2]d")); limitOf(err) != "fragments" || !strings.Contains(err.Error(), "at most 4000") {
		t.Error(err)
	}
}
