package cli_test

import (
	"testing"

	"slipway/internal/base/actor"
)

func TestSettingsOfAnInstanceThatAreNotNamedAreKept(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Admin])
	const instance = "shop/production/web"
	for _, c := range []struct {
		want string
		args []string
	}{
		{"ROLL_BACK\t\n", []string{"--on-failure", "ROLL_BACK"}},
		{"ROLL_BACK\treplicas,artifact\n", []string{"--own-inputs", "replicas, artifact"}},
		{"NOTHING\treplicas,artifact\n", []string{"--on-failure", "NOTHING"}},
		{"ROLL_BACK\timage\n", []string{"--on-failure", "ROLL_BACK", "--own-inputs", "image"}},
		{"ROLL_BACK\t\n", []string{"--own-inputs", ""}},
	} {
		args := append([]string{"instances", "update", instance, "--yes", "--fields", "onFailure,ownInputs", "-o", "tsv"}, c.args...)
		if got := h.must(t, args...); got != c.want {
			t.Errorf("%q gives %q, want %q", c.args, got, c.want)
		}
	}

	h.mustFail(t, 2, []string{"want what is to change, --on-failure or --own-inputs, found nothing"}, "instances", "update", instance)
	h.mustFail(t, 2, []string{"--on-failure: want one of"}, "instances", "update", instance, "--on-failure", "WEEP")
}
