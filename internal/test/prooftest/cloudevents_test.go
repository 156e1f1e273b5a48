package prooftest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/pure/module"
	"slipway/internal/service/account"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestCloudEventsMakeOneRecordEach(t *testing.T) {
	t.Parallel()
	t.Run("sqlite, one server", func(t *testing.T) {
		t.Parallel()
		cloudEvents(t, worldtest.SQLite(t), 1)
	})
	t.Run("postgres, two servers", func(t *testing.T) {
		t.Parallel()
		cloudEvents(t, worldtest.Postgres(t), 2)
	})
}

// outsideEvents are the events of one deployment that was started outside, runnersEvents those of one that a runner carried out.
var (
	outsideEvents = []string{"SERVICE_DEPLOYMENT_IN_PROGRESS", "ACTION", "SERVICE_DEPLOYMENT_COMPLETED"}
	runnersEvents = []string{"SERVICE_DEPLOYMENT_IN_PROGRESS", "SERVICE_DEPLOYMENT_COMPLETED"}
)

// together is how many services have their events in any order together: of an organization, a thousand events may wait for
// the start of their deployment.
const together = 5

// cloudEvents has the deployments of services, every tenth of them a runner's, become known by their events: in any order,
// twice, days late, and to all servers at once.
func cloudEvents(t *testing.T, database string, servers int) {
	t.Helper()
	var statements atomic.Int64
	counting := func(c *store.Config) { c.Trace = func(string, []any) { statements.Add(1) } }
	w := worldtest.New(t, database, counting)
	urls := []string{w.URL}
	for range servers - 1 {
		urls = append(urls, worldtest.Another(t, database, counting).URL)
	}
	services, deployments := testkit.Often(4, 20), testkit.Often(20, 300)
	begun, random := time.Now(), seeded(t)
	p, other := w.Fixture(t, w.Acme, "production"), w.Fixture(t, w.Acme, "staging")
	var documents []string
	want := map[string]string{}
	for n := 0; n < services; n += together {
		var some []string
		for service := range min(together, services-n) {
			some = append(some, cloudService(t, w, p, n+service, deployments, want)...)
		}
		some = append(some, some...)
		random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		documents = append(documents, some...)
	}
	c := newClient(t, w.Acme.Tokens[actor.Runner], 16)
	tenth := len(documents) / 10
	first := deliverAll(t, c, urls, documents[:tenth], &statements)
	deliverAll(t, c, urls, documents[tenth:len(documents)-tenth], &statements)
	last := deliverAll(t, c, urls, documents[len(documents)-tenth:], &statements)
	if last > first*1.2 {
		t.Errorf("an event took %.1f statements at first and %.1f at last", first, last)
	}
	got := recordsOf(t, w)
	for id, events := range want {
		if got[id] != events {
			t.Errorf("%s: %q, want %q", id, got[id], events)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d records of %d deployments", len(got), len(want))
	}
	refused := reachAcross(t, w, other, urls, documents, random)
	proved.note(t, begun, "%d services x %d deployments, %d events to %d servers: %d records, each with its own; %.1f statements an event at first, %.1f at last; %d out of scope x 403",
		services, deployments, len(documents), servers, len(got), first, last, refused)
}

func serviceARN(n int) string {
	return fmt.Sprintf("arn:aws:ecs:eu-west-1:123456789012:service/proof/%d", n)
}

// cloudService makes a service with its instance and what a runner deploys of it. It returns the events of all, and notes which
// each is to have.
func cloudService(t *testing.T, w *worldtest.World, p *worldtest.Fixture, n, deployments int, want map[string]string) (documents []string) {
	t.Helper()
	instance := p.NewInstance(t, fmt.Sprintf("service-%d", n))
	earliest := time.Now().Add(-13 * 24 * time.Hour).Truncate(time.Second)
	// The runner's are now, after all others; between two others is an hour at most.
	apart := 12 * 24 * time.Hour / time.Duration(deployments)
	for k := range deployments {
		id := fmt.Sprintf("ecs-svc/%d-%d", n, k)
		at, names := earliest.Add(time.Duration(k)*apart), outsideEvents
		if k%10 == 0 {
			at, names = carryOutAs(t, w, p, instance, serviceARN(n), id), runnersEvents
		}
		for i, name := range names {
			documents = append(documents, ecsEvent(serviceARN(n), name, id, at.Add(time.Duration(i)*time.Minute)))
		}
		want[id] = "SUCCEEDED " + strings.ReplaceAll(strings.Join(names, " "), "ACTION", "ACTION_"+id)
	}
	return documents
}

// carryOutAs has a runner carry a deployment out and report the id of the cloud, and returns when it began.
func carryOutAs(t *testing.T, w *worldtest.World, p *worldtest.Fixture, i *ent.ModuleInstance, service, cloudID string) time.Time {
	t.Helper()
	_, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
		InstanceID: i.ID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(`{"image":"web:1"}`), Artifact: strictjson.MustParse(worldtest.Artifact),
	})
	if err != nil {
		t.Fatal(err)
	}
	runner := w.Acme.As(actor.Runner)
	d, lease, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes})
	if err != nil {
		t.Fatal(err)
	}
	told := execution.Report{ExternalDeploymentID: &cloudID, Data: strictjson.MustParse(`{"serviceArn":"` + service + `"}`)}
	if _, _, err := w.Deploy.Execution.Report(runner, d.ID, lease.ID, told); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Deploy.Execution.End(runner, d.ID, lease.ID, execution.Completion{}); err != nil {
		t.Fatal(err)
	}
	return *d.StartedAt
}

// ecsEvent is an event of a deployment, or if its name is ACTION, of the service.
func ecsEvent(service, name, cloudID string, at time.Time) string {
	kind, detail := "ECS Deployment State Change", map[string]any{"eventName": name, "deploymentId": cloudID}
	if name == "ACTION" {
		kind, detail = "ECS Service Action", map[string]any{"eventName": "ACTION_" + cloudID}
	}
	text, err := json.Marshal(map[string]any{
		"id": cloudID + name, "detail-type": kind, "time": at.UTC().Format(time.RFC3339Nano), "resources": []string{service}, "detail": detail,
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// deliverAll sends events to all servers at once, and returns how many statements each has taken.
func deliverAll(t *testing.T, c *client, urls, documents []string, statements *atomic.Int64) float64 {
	t.Helper()
	before := statements.Load()
	next := make(chan string)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for text := range next {
				a, err := c.post(t.Context(), urls[i%len(urls)]+"/integrations/ecs/events", []byte(text))
				for err == nil && a.status == http.StatusServiceUnavailable { // as the event bus does
					a, err = c.post(t.Context(), urls[i%len(urls)]+"/integrations/ecs/events", []byte(text))
				}
				if err != nil || a.status != http.StatusAccepted {
					t.Errorf("%v %d %s", err, a.status, a.body)
				}
			}
		})
	}
	for _, text := range documents {
		next <- text
	}
	close(next)
	all.Wait()
	return float64(statements.Load()-before) / float64(len(documents))
}

// recordsOf returns the status and the events of the records that have an id of the cloud, by that id; of several that have
// the same one all.
func recordsOf(t *testing.T, w *worldtest.World) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, d := range w.Store.Client.Deployment.Query().Where(entdeployment.ExternalDeploymentIDNotNil()).AllX(w.Acme.As(actor.Viewer)) {
		data, err := d.Data.Data()
		if err != nil {
			t.Fatal(err)
		}
		text := string(d.Status)
		for _, e := range data.Events {
			text += " " + *e.Message
		}
		got[*d.ExternalDeploymentID] += text
	}
	return got
}

// reachAcross tries to change the deployments by a runner's token and a developer's whose scope is another place, and returns
// how many events were refused.
func reachAcross(t *testing.T, w *worldtest.World, other *worldtest.Fixture, urls, documents []string, random *rand.Rand) (refused int) {
	t.Helper()
	before := recordsOf(t, w)
	rows := w.Rows(t)
	token := w.Token(t, w.Acme, account.NewToken{Name: "staging", Role: actor.Runner, Scope: &actor.Scope{Environments: []string{other.Environment.ID}}})
	c := newClient(t, token, 4)
	for range 50 {
		text := documents[random.IntN(len(documents))]
		text = strings.NewReplacer(`"id":"`, `"id":"forged `, "COMPLETED", "FAILED").Replace(text)
		a, err := c.post(t.Context(), urls[random.IntN(len(urls))]+"/integrations/ecs/events", []byte(text))
		if err != nil || a.status != http.StatusForbidden {
			t.Errorf("%v %d %s", err, a.status, a.body)
			continue
		}
		refused++
	}
	developer := *actor.From(w.Acme.As(actor.Developer))
	developer.Scope = &actor.Scope{Environments: []string{other.Environment.ID}}
	_, _, err := w.Deploy.Propose.Create(actor.With(t.Context(), &developer), propose.New{
		InstanceID: other.Instance.ID, VersionID: other.Version.ID, Inputs: strictjson.MustParse(`{"image":"web:1"}`),
		Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(`{"serviceArn":"` + serviceARN(0) + `"}`),
	})
	if !fault.Is(err, fault.DeploymentResourceTaken) {
		t.Errorf("a deployment elsewhere that names the service: %v", err)
	}
	after := recordsOf(t, w)
	for id, text := range before {
		if after[id] != text {
			t.Errorf("%s has changed: %q, was %q", id, after[id], text)
		}
	}
	if now := w.Rows(t); now["deployments"] != rows["deployments"] || now["cloud_events"] != rows["cloud_events"] {
		t.Errorf("rows were added: %v, there were %v", now, rows)
	}
	return refused
}
