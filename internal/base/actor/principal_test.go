package actor_test

import (
	"testing"

	"slipway/internal/base/actor"
)

func TestSamePersonIsOnePrincipalOrOneThatMadeTheOther(t *testing.T) {
	t.Parallel()
	makers := map[string][]string{"tok_a": {}, "holder:bob": {"tok_b", "tok_root"}, "tok_b": {"tok_root"}}
	for name, c := range map[string]struct {
		author, voter string
		same          bool
	}{
		"one principal":              {"tok_a", "tok_a", true},
		"strangers":                  {"tok_a", "holder:bob", false},
		"the voter made the author":  {"holder:bob", "tok_b", true},
		"the author made the voter":  {"tok_b", "holder:bob", true},
		"over another":               {"tok_root", "holder:bob", true},
		"made by the same":           {"tok_c", "tok_d", false},
		"nobody, and somebody":       {"", "tok_a", false},
		"of whom nothing is known":   {"tok_x", "tok_y", false},
		"a holder, and a token's id": {"holder:tok_a", "tok_a", false},
	} {
		if got := actor.SamePerson(c.author, c.voter, makers); got != c.same {
			t.Errorf("%s: %t", name, got)
		}
	}
}
