package actor_test

import (
	"testing"

	"slipway/internal/base/actor"
)

func TestTheKindOfAnActorGoesByItsTokenOrItsName(t *testing.T) {
	t.Parallel()
	for want, list := range map[actor.Kind][]actor.Ref{
		actor.ByToken: {
			{Name: "ci", TokenID: new("tok_1")}, {Name: "slipway", TokenID: new("tok_1")}, {Name: "cli:root", TokenID: new("tok_1")},
			{Name: "ci"}, {Name: "client"}, // from before ids were noted
		},
		actor.ByServer:  {{Name: "slipway"}, {Name: "slipway", Role: actor.System}},
		actor.ByCommand: {{Name: "cli"}, {Name: "cli:root"}, {Name: "other", Role: actor.System}},
	} {
		for _, r := range list {
			if got := r.Kind(); got != want {
				t.Errorf("%+v is %s, want %s", r, got, want)
			}
		}
	}
}
