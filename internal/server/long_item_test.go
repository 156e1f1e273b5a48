package server_test

import (
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/server"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

func TestAnItemThatIsTooLongComesWithoutItsDataAndTheStreamGoesOn(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{Limits: document.Limits{Answer: 4000}})
	p := w.Fixture(t, w.Acme, "web")
	long := strings.Repeat("d", 5000)
	d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
		InstanceID: p.Instance.ID, VersionID: p.Version.ID, Description: &long,
		Inputs: strictjson.MustParse(`{"image":"registry.example/web:1"}`), Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(worldtest.Data),
	})
	if err != nil {
		t.Fatal(err)
	}
	socket := dial(t, s.URL, w.Acme.Tokens[actor.Viewer])
	hear(t, socket)
	say(t, socket, `{"id":"1","type":"subscribe","payload":{"query":"subscription { deploymentChanged(id: \"`+d.ID+`\") { deployment { status description } } }"}}`)
	for range 2 {
		got, _ := hear(t, socket)
		if !strings.HasPrefix(got, `{"type":"next","id":"1"`) || !strings.Contains(got, `"data":null`) || !strings.Contains(got, string(fault.RequestAnswerTooLarge)) || !strings.Contains(got, `"extensions":{"cursor":"`) {
			t.Errorf("%s", got)
		}
		if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil && !fault.Is(err, fault.DeploymentWrongState) {
			t.Fatal(err)
		}
	}
	if got, _ := hear(t, socket); got != `{"type":"complete","id":"1"}` {
		t.Errorf("%s", got)
	}
}
