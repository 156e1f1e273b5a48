package deployment_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/ent/cloudevent"
	entdeployment "slipway/ent/deployment"
	"slipway/ent/deploymentchange"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/journal"
	"slipway/internal/data/record"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/state"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// at is when the tests of the cloud's events take place.
var at = time.Date(2026, 3, 5, 16, 0, 0, 0, time.UTC)

// bus delivers the events of one service.
type bus struct {
	*worldtest.World
	deploy *deployment.Services
	// tag tells ids and services of one database apart.
	tag string
}

// newBus makes a bus whose clock stands still.
func newBus(w *worldtest.World, tag string) *bus {
	return &bus{w, serviceAt(w, at), tag}
}

// serviceAt returns the service whose clock stands still at a time.
func serviceAt(w *worldtest.World, now time.Time) *deployment.Services {
	return w.DeployBy(func() time.Time { return now })
}

func (b *bus) service(name string) string {
	return "arn:aws:ecs:eu-west-1:123456789012:service/" + b.tag + "/" + name
}

// document is an event as the bus delivers it, whose id is that of its text.
func document(kind, service string, after time.Duration, resources []string, detail map[string]any) string {
	detail["clusterArn"] = clusterARN
	text, err := json.Marshal(map[string]any{
		"version": "0", "id": fmt.Sprintf("%s %s %s", service, after, detail["eventName"]), "detail-type": kind, "source": "aws.ecs",
		"account": "123456789012", "region": "eu-west-1", "time": at.Add(after).Format(time.RFC3339),
		"resources": resources, "detail": detail,
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

const clusterARN = "arn:aws:ecs:eu-west-1:123456789012:cluster/main"

// stateOf is an event of a deployment of the service.
func stateOf(service string, after time.Duration, name, deploymentID, reason string) string {
	detail := map[string]any{
		"eventType": "INFO", "eventName": "SERVICE_DEPLOYMENT_" + name, "deploymentId": deploymentID,
		"updatedAt": at.Add(after + 250*time.Millisecond).Format(time.RFC3339Nano),
	}
	if reason != "" {
		detail["reason"] = reason
	}
	return document("ECS Deployment State Change", service, after, []string{service}, detail)
}

// action is an event of the service.
func action(service string, after time.Duration, name, reason string) string {
	detail := map[string]any{"eventType": "INFO", "eventName": name, "createdAt": at.Add(after + 250*time.Millisecond).Format(time.RFC3339Nano)}
	if reason != "" {
		detail["reason"], detail["eventType"] = reason, "ERROR"
	}
	return document("ECS Service Action", service, after, []string{service}, detail)
}

// hook is an event of a hook of a service deployment.
func hook(service, run string, after time.Duration, name, kind, hookID, stage string) string {
	arn := strings.Replace(service, ":service/", ":service-deployment/", 1) + "/" + run
	return document("ECS Hook State Change", service+hookID, after, []string{arn}, map[string]any{
		"eventType": "INFO", "eventName": name, "hookId": hookID, "hookType": kind, "lifecycleStage": stage,
		"serviceArn": service, "serviceDeploymentArn": arn, "updatedAt": at.Add(after + 250*time.Millisecond).Format(time.RFC3339Nano),
	})
}

// received is when the events of the tests are delivered, which all have happened before.
var received = at.Add(40 * time.Hour)

// late returns the service as it is when the events are delivered.
func (b *bus) late() *deployment.Services {
	return b.deploy.With(func(d *deployment.Deps) {
		d.Journal = journal.NewAlone(b.Store, func() time.Time { return received }, id.New)
	})
}

// receive delivers events.
func (b *bus) receive(t *testing.T, documents ...string) {
	t.Helper()
	late := b.late()
	for _, text := range documents {
		if err := late.CloudEvents.ReceiveECSEvent(b.Acme.As(actor.Runner), strictjson.MustParse(text)); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	}
}

var claims sync.Mutex

// instance makes an instance whose last deployment has a service, and has ended unless it is held.
func (b *bus) instance(t *testing.T, p *worldtest.Fixture, name string, held bool) (*ent.ModuleInstance, *ent.Deployment, string) {
	t.Helper()
	i := p.NewInstance(t, b.tag+"-"+name)
	// A runner claims whatever waits.
	claims.Lock()
	defer claims.Unlock()
	_, _, err := b.deploy.Propose.Create(b.Acme.As(actor.Developer), propose.New{
		InstanceID: i.ID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(`{"image":"web:1"}`),
		Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(`{"clusterArn":"` + clusterARN + `","serviceArn":"` + b.service(name) + `"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	d, lease, err := b.deploy.Execution.Claim(b.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes})
	if err != nil {
		t.Fatal(err)
	}
	if held {
		return i, d, lease.ID
	}
	if d, err = b.deploy.Execution.End(b.Acme.As(actor.Runner), d.ID, lease.ID, execution.Completion{}); err != nil {
		t.Fatal(err)
	}
	return i, d, lease.ID
}

// stories are what the cloud does with six services, two of which a runner deploys to at that time, and with one that
// nobody knows.
func (b *bus) stories() []string {
	const s, m, h = time.Second, time.Minute, time.Hour
	id := func(n string) string { return "ecs-svc/" + b.tag + n }
	adopted, failing, outside, own, superseded, overtaken := b.service("adopted"), b.service("failing"), b.service("outside"),
		b.service("own"), b.service("superseded"), b.service("overtaken")
	const pre, pause = "ecs-hook-1", "ecs-pause-1"
	return []string{
		// Blue and green, with hooks and a pause.
		stateOf(adopted, 2*s, "IN_PROGRESS", id("100"), "ECS deployment "+id("100")+" in progress."),
		hook(adopted, "run1", 4*s, "HOOK_IN_PROGRESS", "AWS_LAMBDA", pre, "PRE_SCALE_UP"),
		hook(adopted, "run1", 9*s, "HOOK_SUCCEEDED", "AWS_LAMBDA", pre, "PRE_SCALE_UP"),
		action(adopted, m, "SERVICE_DESIRED_COUNT_UPDATED", ""),
		hook(adopted, "run1", 5*m, "HOOK_AWAITING_ACTION", "PAUSE", pause, "POST_TEST_TRAFFIC_SHIFT"),
		hook(adopted, "run1", 8*m, "HOOK_SUCCEEDED", "PAUSE", pause, "POST_TEST_TRAFFIC_SHIFT"),
		stateOf(adopted, 15*m, "COMPLETED", id("100"), "ECS deployment "+id("100")+" completed."),
		action(adopted, 15*m+s, "SERVICE_STEADY_STATE", ""),
		// A failure that the cloud rolls back under another id.
		stateOf(failing, 2*s, "IN_PROGRESS", id("200"), "ECS deployment "+id("200")+" in progress."),
		action(failing, 3*m, "SERVICE_TASK_PLACEMENT_FAILURE", "RESOURCE:MEMORY"),
		stateOf(failing, 10*m, "FAILED", id("200"), "ECS deployment circuit breaker: tasks failed to start."),
		stateOf(failing, 10*m, "IN_PROGRESS", id("201"), "ECS deployment circuit breaker: rolling back to deploymentId "+id("199")+"."),
		stateOf(failing, 14*m, "COMPLETED", id("201"), "ECS deployment "+id("201")+" completed."),
		// Started outside, twice.
		stateOf(outside, 1*h, "IN_PROGRESS", id("300"), "ECS deployment "+id("300")+" in progress."),
		stateOf(outside, 1*h+4*m, "COMPLETED", id("300"), "ECS deployment "+id("300")+" completed."),
		action(outside, 1*h+4*m, "SERVICE_STEADY_STATE", ""),
		action(outside, 7*h, "SERVICE_STEADY_STATE", ""),
		action(outside, 13*h, "SERVICE_STEADY_STATE", ""),
		stateOf(outside, 14*h, "IN_PROGRESS", id("301"), "ECS deployment "+id("301")+" in progress."),
		action(outside, 14*h+m, "SERVICE_TASK_START_IMPAIRED", ""),
		stateOf(outside, 14*h+9*m, "FAILED", id("301"), "ECS deployment circuit breaker: tasks failed to start."),
		// Another, whose start is told twice, and of which the cloud does not say why it failed.
		stateOf(outside, 15*h-10*s, "IN_PROGRESS", id("302"), ""),
		stateOf(outside, 15*h, "IN_PROGRESS", id("302"), ""),
		stateOf(outside, 15*h+m, "FAILED", id("302"), ""),
		// A failure that the cloud rolls back under the same id.
		stateOf(own, 1*h, "IN_PROGRESS", id("400"), "ECS deployment "+id("400")+" in progress."),
		stateOf(own, 1*h+5*m, "FAILED", id("400"), "ECS deployment circuit breaker: task failed to start."),
		stateOf(own, 1*h+6*m, "IN_PROGRESS", id("400"), "ECS deployment circuit breaker: rolling back to deploymentId "+id("399")+"."),
		stateOf(own, 1*h+9*m, "COMPLETED", id("400"), "ECS deployment "+id("400")+" completed."),
		// A rollback that begins before the failure is told, is told twice, and fails.
		stateOf(own, 2*h, "IN_PROGRESS", id("401"), "ECS deployment "+id("401")+" in progress."),
		stateOf(own, 2*h+4*m, "IN_PROGRESS", id("402"), "ECS deployment alarm: rolling back to deploymentId "+id("399")+"."),
		stateOf(own, 2*h+5*m, "FAILED", id("401"), "ECS deployment alarm: an alarm was raised."),
		stateOf(own, 2*h+6*m, "IN_PROGRESS", id("402"), "ECS deployment alarm: still rolling back."),
		stateOf(own, 2*h+8*m, "FAILED", id("402"), ""),
		// A rollback of which only the beginning says why, of what began while the other was rolled back.
		stateOf(own, 2*h+330*s, "IN_PROGRESS", id("403"), "ECS deployment "+id("403")+" in progress."),
		stateOf(own, 3*h+4*m, "IN_PROGRESS", id("404"), "ECS deployment alarm: rolling back to deploymentId "+id("399")+"."),
		stateOf(own, 3*h+6*m, "COMPLETED", id("404"), ""),
		// One that another takes the place of.
		stateOf(superseded, 1*h, "IN_PROGRESS", id("500"), "ECS deployment "+id("500")+" in progress."),
		hook(superseded, "run2", 1*h+m, "HOOK_IN_PROGRESS", "AWS_LAMBDA", pre, "POST_SCALE_UP"),
		stateOf(superseded, 1*h+2*m, "IN_PROGRESS", id("501"), "ECS deployment "+id("501")+" in progress."),
		hook(superseded, "run3", 1*h+3*m, "HOOK_IN_PROGRESS", "AWS_LAMBDA", pre, "PRE_SCALE_UP"),
		stateOf(superseded, 1*h+8*m, "COMPLETED", id("501"), "ECS deployment "+id("501")+" completed."),
		// Two that the next one takes the place of.
		stateOf(superseded, 2*h, "IN_PROGRESS", id("502"), "ECS deployment "+id("502")+" in progress."),
		stateOf(superseded, 2*h+m, "IN_PROGRESS", id("503"), "ECS deployment "+id("503")+" in progress."),
		stateOf(superseded, 2*h+2*m, "IN_PROGRESS", id("504"), "ECS deployment "+id("504")+" in progress."),
		stateOf(superseded, 2*h+5*m, "COMPLETED", id("504"), "ECS deployment "+id("504")+" completed."),
		// One that another takes the place of, which is rolled back.
		stateOf(superseded, 3*h, "IN_PROGRESS", id("505"), "ECS deployment "+id("505")+" in progress."),
		stateOf(superseded, 3*h+m, "IN_PROGRESS", id("506"), "ECS deployment "+id("506")+" in progress."),
		stateOf(superseded, 3*h+3*m, "IN_PROGRESS", id("507"), "ECS deployment alarm: rolling back to deploymentId "+id("504")+"."),
		stateOf(superseded, 3*h+5*m, "COMPLETED", id("507"), "ECS deployment "+id("507")+" completed."),
		// One from outside that takes the place of a runner's.
		stateOf(overtaken, 3*s, "IN_PROGRESS", id("600"), "ECS deployment "+id("600")+" in progress."),
		action(overtaken, 40*s, "SERVICE_DESIRED_COUNT_UPDATED", ""),
		stateOf(overtaken, m, "IN_PROGRESS", id("601"), "ECS deployment "+id("601")+" in progress."),
		action(overtaken, m+30*s, "SERVICE_DESIRED_COUNT_UPDATED", ""),
		stateOf(overtaken, 3*m, "COMPLETED", id("601"), "ECS deployment "+id("601")+" completed."),
		// Nobody knows of this.
		stateOf(b.service("unknown"), 1*h, "IN_PROGRESS", id("700"), "ECS deployment "+id("700")+" in progress."),
	}
}

// play prepares the services, delivers events in an order, and returns what is then known of each.
func (b *bus) play(t *testing.T, p *worldtest.Fixture, documents []string) string {
	t.Helper()
	var instances []*ent.ModuleInstance
	leases := map[string]string{}
	for _, name := range []string{"adopted", "failing", "outside", "own", "superseded", "overtaken"} {
		held := name == "adopted" || name == "failing" || name == "overtaken"
		i, d, lease := b.instance(t, p, name, held)
		if held {
			leases[d.ID] = lease
		}
		instances = append(instances, i)
	}
	b.receive(t, documents...)
	for d, lease := range leases {
		if _, err := b.deploy.Execution.End(b.Acme.As(actor.Runner), d, lease, execution.Completion{}); err != nil {
			t.Fatal(err)
		}
	}
	return b.known(t, instances...)
}

// known is what is known of the deployments of instances, without what depends on when it became known.
func (b *bus) known(t *testing.T, instances ...*ent.ModuleInstance) string {
	t.Helper()
	var all strings.Builder
	ctx := b.Acme.As(actor.Viewer)
	names := strings.NewReplacer(b.tag, "TAG")
	for _, i := range instances {
		list := b.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(i.ID)).AllX(ctx)
		slices.SortFunc(list, func(a, b *ent.Deployment) int {
			return cmp.Or(a.StartedAt.Compare(*b.StartedAt), strings.Compare(a.ID, b.ID))
		})
		fmt.Fprintf(&all, "%s\n", i.Name)
		last := b.Store.Client.ModuleInstance.GetX(ctx, i.ID)
		if drift := state.DriftOf((*record.ModuleInstance)(last)); drift != nil {
			fmt.Fprintf(&all, "%s since %s\n", drift.Kind, stamp(&drift.Since))
		}
		for _, d := range list {
			failure, err := json.Marshal(d.Error)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "%s %s %s adopted=%t %s..%v by %s live=%t last=%t release=%t\n\terror %s\n", d.TriggerSource, d.Status, orNone(d.ExternalDeploymentID),
				d.ExternalIDAdopted, stamp(d.StartedAt), stamp(d.CompletedAt), d.CreatedBy, last.LiveDeploymentID != nil && *last.LiveDeploymentID == d.ID,
				last.ExternalDeploymentID != nil && *last.ExternalDeploymentID == d.ID, d.ReleaseID != nil, failure)
			var data struct {
				Events []struct{ StartedAt, Message, HookID, LifecycleStage string }
				Rest   map[string]json.RawMessage
			}
			if err := json.Unmarshal(d.Data.JSON(), &data); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(d.Data.JSON(), &data.Rest); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"events", "deployedTaskDefinition", "previousTaskDefinition"} {
				delete(data.Rest, name)
			}
			rest, err := json.Marshal(data.Rest)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "\t%s\n", rest)
			for _, e := range data.Events {
				fmt.Fprintf(&all, "\t%s %s %s %s\n", e.StartedAt, e.Message, e.HookID, e.LifecycleStage)
			}
		}
	}
	return names.Replace(all.String())
}

func orNone(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

func stamp(t *time.Time) string {
	if t == nil {
		return "…"
	}
	return t.UTC().Format(time.RFC3339)
}

func TestEventsOfTheCloudEndInTheSameRecordsInEveryOrder(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "cloud")
		straight := newBus(w, "straight")
		want := straight.play(t, p, straight.stories())
		if *update {
			if err := os.WriteFile("testdata/stories.txt", []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if golden := goldenStories(t); want != golden {
			t.Errorf("in the cloud's order: want (-), got (+):\n%s", gocmp.Diff(golden, want))
		}
		seeds := testkit.Often(15, 50)
		if w.Store.Postgres() {
			seeds = testkit.Often(5, 15) // the order is the program's to mend, so that databases hardly differ
		}
		for seed := range uint64(seeds) {
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				t.Parallel()
				b := newBus(w, fmt.Sprintf("seed%d", seed))
				random := rand.New(rand.NewPCG(seed, 1))
				documents := b.stories()
				for range 6 {
					documents = append(documents, documents[random.IntN(len(documents))])
				}
				random.Shuffle(len(documents), func(i, j int) { documents[i], documents[j] = documents[j], documents[i] })
				if diff := gocmp.Diff(want, b.play(t, p, documents)); diff != "" {
					t.Errorf("want (-), got (+):\n%s", diff)
				}
			})
		}
	})
}

var update = flag.Bool("update", false, "write the records of the stories anew")

// goldenStories is what the stories end in.
func goldenStories(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/stories.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// deliver posts an event over REST.
func deliver(t *testing.T, w *worldtest.World, token, text string) worldtest.Response {
	t.Helper()
	return w.REST(t, http.MethodPost, "/integrations/ecs/events", token, text, nil)
}

func TestWhatWasStartedOutsideStandsInNobodysWay(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		source := p.Succeeded(t)
		admin, token := w.Acme.As(actor.Admin), w.Acme.Tokens[actor.Runner]
		service := "arn:aws:ecs:eu-west-1:123456789012:service/main/web"
		later := time.Since(at) + 30*time.Minute
		if r := deliver(t, w, token, stateOf(service, later, "IN_PROGRESS", "ecs-svc/1", "")); r.Status != http.StatusAccepted || len(r.Body) != 0 {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		r := w.GraphQL(t, w.Acme.Tokens[actor.Developer], `query($id: ID!) { moduleInstance(id: $id) { liveDeployment { id } externalDeployment {
			id status triggerSource releaseId release { id } runner { name } lineage { nodes { id } } data { ... on EcsDeploymentData { detectedVia } }
			rollbackEligibility { allowed refusal { code } } redeployEligibility { allowed refusal { code } blockedBy { id } } } } }`, map[string]any{"id": p.Instance.ID})
		outside := r.Text(t, "data", "moduleInstance", "externalDeployment", "id")
		got, err := json.Marshal(r.At(t, "data", "moduleInstance"))
		want := `{"externalDeployment":{"data":{"detectedVia":"eventbridge"},"id":"` + outside + `","lineage":{"nodes":[]},` +
			`"redeployEligibility":{"allowed":false,"blockedBy":null,"refusal":{"code":"slipway:Release:UNAVAILABLE"}},"release":null,"releaseId":null,` +
			`"rollbackEligibility":{"allowed":false,"refusal":{"code":"slipway:Release:UNAVAILABLE"}},"runner":null,"status":"RUNNING","triggerSource":"event"},` +
			`"liveDeployment":{"id":"` + source.ID + `"}}`
		if diff := gocmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		_, _, err = w.Deploy.Propose.Redeploy(admin, propose.Replay{SourceID: outside})
		refusedAs(t, err, fault.ReleaseUnavailable)
		_, _, err = w.Deploy.Propose.Rollback(admin, propose.Replay{SourceID: outside})
		refusedAs(t, err, fault.ReleaseUnavailable)
		_, err = w.Deploy.Releases.Compare(admin, source.ID, outside)
		refusedAs(t, err, fault.ReleaseUnavailable)
		_, err = w.Deploy.Execution.Cancel(admin, outside, nil)
		refusedAs(t, err, fault.DeploymentWrongState)
		_, err = w.Deploy.Execution.ForceCancel(admin, outside, nil)
		refusedAs(t, err, fault.DeploymentWrongState)
		if both, err := w.Deploy.Admission.Eligibilities(admin, []string{source.ID}); err != nil || !both[source.ID].Rollback.Allowed {
			t.Errorf("the earlier one: %+v, %v", both[source.ID].Rollback, err)
		}
		// It does not count against the one active deployment, and no runner gets it.
		p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`), nil)
		if n, err := w.Deploy.Execution.ExpireLeases(t.Context()); n != 0 || err != nil {
			t.Errorf("%d leases ended, %v", n, err)
		}
		if r := w.REST(t, http.MethodGet, "/deployments/"+outside, w.Acme.Tokens[actor.Viewer], "", nil); r.Status != http.StatusOK ||
			r.Text(t, "data", "triggerSource") != "event" {
			t.Errorf("over REST: %d %s", r.Status, r.Body)
		}
	})
}

func refusedAs(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("%v, want %s", err, code)
	}
}

func TestEachChangeByAnEventLeavesItsRows(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		b := newBus(w, "rows")
		_, earlier, _ := b.instance(t, p, "web", false)
		ctx, service := w.Acme.As(actor.Admin), b.service("web")
		rows := func() (audits, changes int) {
			return w.Store.Client.AuditEvent.Query().Where(auditevent.Action("receiveEcsEvent")).CountX(ctx),
				w.Store.Client.DeploymentChange.Query().Where(deploymentchange.DeploymentIDNEQ(earlier.ID)).CountX(ctx)
		}
		start, end := stateOf(service, time.Hour, "IN_PROGRESS", "ecs-svc/1", ""), stateOf(service, 2*time.Hour, "COMPLETED", "ecs-svc/1", "")
		for _, c := range []struct {
			document        string
			audits, changes int
		}{
			{end, 0, 0},   // waits for its start
			{start, 2, 2}, // is created, and has ended
			{start, 2, 2}, // is known
			{action(service, 3*time.Hour, "SERVICE_STEADY_STATE", ""), 3, 3},
			{action(service, 9*time.Hour, "SERVICE_STEADY_STATE", ""), 3, 3}, // says nothing new
			{action(service, -time.Hour, "SERVICE_STEADY_STATE", ""), 3, 3},  // is older than all that is known
		} {
			b.receive(t, c.document)
			if audits, changes := rows(); audits != c.audits || changes != c.changes {
				t.Errorf("%d audit rows and %d change rows, want %d and %d: %s", audits, changes, c.audits, c.changes, c.document)
			}
		}
		var kinds []deploymentchange.Kind
		for _, c := range w.Store.Client.DeploymentChange.Query().Where(deploymentchange.DeploymentIDNEQ(earlier.ID)).Order(ent.Asc("id")).AllX(ctx) {
			kinds = append(kinds, *c.Kind)
		}
		if want := []deploymentchange.Kind{"CREATED", "COMPLETED", "UPDATED"}; !slices.Equal(kinds, want) {
			t.Errorf("the changes are %s, want %s", kinds, want)
		}
		d := w.Store.Client.Deployment.Query().Where(entdeployment.TriggerSource("event")).OnlyX(ctx)
		if d.Status != "SUCCEEDED" || d.CreatedBy != "runner" {
			t.Errorf("%s by %s, version %d", d.Status, d.CreatedBy, d.Version)
		}
		if of := d.ModuleDefinitionID; of == nil || *of != p.Definition.ID || d.ModuleVersionID != nil {
			t.Errorf("the module is %v, the version %v", of, d.ModuleVersionID)
		}
		if by := d.CreatedByID; by == nil || *by != actor.From(w.Acme.As(actor.Runner)).PrincipalID {
			t.Errorf("its creator is %v", by)
		}
	})
}

func TestEventsWaitUntilARunnerTellsTheService(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		b, p := newBus(w, "wait"), w.Fixture(t, w.Acme, "web")
		service := b.service("web")
		d, _, err := b.deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
			InstanceID: p.Instance.ID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(`{"image":"web:1"}`), Artifact: strictjson.MustParse(worldtest.Artifact),
		})
		if err != nil {
			t.Fatal(err)
		}
		runner := w.Acme.As(actor.Runner)
		_, lease, err := b.deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes})
		if err != nil {
			t.Fatal(err)
		}
		b.receive(t, stateOf(service, 10*time.Second, "IN_PROGRESS", "ecs-svc/1", "begun"))
		if n, err := b.deploy.CloudEvents.RetryEvents(t.Context()); n != 0 || err != nil {
			t.Errorf("%d services before any is known, %v", n, err)
		}
		reported, _, err := b.deploy.Execution.Report(runner, d.ID, lease.ID, execution.Report{Data: strictjson.MustParse(`{"serviceArn":"` + service + `"}`)})
		if err != nil || reported.ExternalDeploymentID == nil || *reported.ExternalDeploymentID != "ecs-svc/1" || !strings.Contains(string(reported.Data.JSON()), "begun") {
			t.Fatalf("%v, %v", reported, err)
		}
		// What the runner says itself counts.
		newer := `{"detectedVia":"poll","serviceDeploymentState":{"observedAt":"2026-03-05T17:00:00Z","status":"IN_PROGRESS","targetServiceRevision":{"runningTaskCount":2}}}`
		if _, _, err = b.deploy.Execution.Report(runner, d.ID, lease.ID, execution.Report{Data: strictjson.MustParse(newer), ExternalDeploymentID: new("ecs-svc/1")}); err != nil {
			t.Fatal(err)
		}
		b.receive(t, hook(service, "run", 30*time.Minute, "HOOK_SUCCEEDED", "PAUSE", "ecs-pause-1", "BAKE_TIME"))
		data := string(w.Store.Client.Deployment.GetX(runner, d.ID).Data.JSON())
		if !strings.Contains(data, `"observedAt":"2026-03-05T17:00:00Z"`) || !strings.Contains(data, `"acceptedAt":"2026-03-05T16:30:00Z"`) {
			t.Errorf("an older event: %s", data)
		}
		b.receive(t, stateOf(service, 2*time.Hour, "COMPLETED", "ecs-svc/1", "done"))
		data = string(w.Store.Client.Deployment.GetX(runner, d.ID).Data.JSON())
		if !strings.Contains(data, `"status":"SUCCESSFUL"`) || !strings.Contains(data, `"runningTaskCount":2`) || !strings.Contains(data, `"detectedVia":"poll"`) {
			t.Errorf("a newer event: %s", data)
		}
		if now := w.Store.Client.Deployment.GetX(runner, d.ID); now.Status != "RUNNING" {
			t.Errorf("an event has ended what a runner holds: %s", now.Status)
		}
	})
}

func TestAStartIsThatOfTheDeploymentThatARunnerHeldThen(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b, ctx := w.Fixture(t, w.Acme, "web"), newBus(w, "held"), w.Acme.As(actor.Viewer)
		for name, c := range map[string]struct {
			held    bool
			start   time.Duration
			adopted bool
		}{
			"early":         {true, -6 * time.Second, false},
			"a-bit-early":   {true, -5 * time.Second, true},
			"long-held":     {true, 30 * time.Hour, true},
			"ended":         {false, time.Minute, true},
			"ended-earlier": {false, time.Minute + time.Second, false},
		} {
			i, d, _ := b.instance(t, p, name, c.held)
			b.receive(t, stateOf(b.service(name), c.start, "IN_PROGRESS", "ecs-svc/"+name, ""))
			d = w.Store.Client.Deployment.GetX(ctx, d.ID)
			adopted := d.ExternalDeploymentID != nil && *d.ExternalDeploymentID == "ecs-svc/"+name
			outside := w.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(i.ID), entdeployment.TriggerSource("event")).CountX(ctx)
			if adopted != c.adopted || outside == 1 == c.adopted {
				t.Errorf("%s: adopted %t, and %d were started outside", name, adopted, outside)
			}
		}
	})
}

func TestStartsAreThoseOfTheDeploymentsInTheirOrder(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b, ctx := w.Fixture(t, w.Acme, "web"), newBus(w, "order"), w.Acme.As(actor.Viewer)
		now := at
		b.deploy = w.DeployBy(func() time.Time { return now })
		i, first, _ := b.instance(t, p, "web", false)
		now = at.Add(30 * time.Second)
		if _, _, err := b.deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: first.ID}); err != nil {
			t.Fatal(err)
		}
		second, lease, err := b.deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes})
		if err != nil {
			t.Fatal(err)
		}
		// Both were held then. They come in the wrong order, and once more.
		starts := []string{
			stateOf(b.service("web"), 40*time.Second, "IN_PROGRESS", "ecs-svc/2", ""),
			stateOf(b.service("web"), 26*time.Second, "IN_PROGRESS", "ecs-svc/1", ""),
		}
		b.receive(t, append(starts, starts...)...)
		for want, d := range map[string]*ent.Deployment{"ecs-svc/1": first, "ecs-svc/2": second} {
			if got := orNone(w.Store.Client.Deployment.GetX(ctx, d.ID).ExternalDeploymentID); got != want {
				t.Errorf("%s is that of %s", got, want)
			}
		}
		// What the runner reports is so, whatever was taken for it. The other one was started outside then.
		if _, _, err := b.deploy.Execution.Report(w.Acme.As(actor.Runner), second.ID, lease.ID, execution.Report{ExternalDeploymentID: new("ecs-svc/3")}); err != nil {
			t.Fatal(err)
		}
		b.receive(t, stateOf(b.service("web"), 50*time.Second, "IN_PROGRESS", "ecs-svc/4", ""))
		if got := orNone(w.Store.Client.Deployment.GetX(ctx, second.ID).ExternalDeploymentID); got != "ecs-svc/3" {
			t.Errorf("what the runner has reported became %s", got)
		}
		if n := w.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(i.ID), entdeployment.TriggerSource("event")).CountX(ctx); n == 0 {
			t.Error("none was started outside")
		}
	})
}

func TestADeploymentWithoutAnIDTakesThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b, now := w.Fixture(t, w.Acme, "web"), newBus(w, "nameless"), at
		b.deploy = w.DeployBy(func() time.Time { return now })
		_, first, _ := b.instance(t, p, "web", false)
		now = at.Add(10 * time.Minute)
		if _, _, err := b.deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: first.ID}); err != nil {
			t.Fatal(err)
		}
		second, lease, err := b.deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes})
		if err != nil {
			t.Fatal(err)
		}
		if second, err = b.deploy.Execution.End(w.Acme.As(actor.Runner), second.ID, lease.ID, execution.Completion{}); err != nil {
			t.Fatal(err)
		}
		b.receive(t,
			stateOf(b.service("web"), 5*time.Minute, "IN_PROGRESS", "ecs-svc/1", ""),
			stateOf(b.service("web"), 20*time.Minute, "IN_PROGRESS", "ecs-svc/2", ""),
			stateOf(b.service("web"), 25*time.Minute, "COMPLETED", "ecs-svc/2", ""),
		)
		ctx := w.Acme.As(actor.Viewer)
		d := w.Store.Client.Deployment.Query().Where(entdeployment.ExternalDeploymentID("ecs-svc/1")).OnlyX(ctx)
		if d.Status != "CANCELED" || d.CompletedAt == nil || !d.CompletedAt.Equal(now) || d.Error == nil || d.Error.Message != "Superseded by a later deployment of the service." {
			t.Errorf("%s at %s: %+v", d.Status, stamp(d.CompletedAt), d.Error)
		}
		if n := w.Store.Client.Deployment.GetX(ctx, second.ID); n.Version != second.Version {
			t.Errorf("the events of others made version %d of %d", n.Version, second.Version)
		}
	})
}

func TestAnEventLosesItsPlaceAndFindsItAgain(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b, ctx := w.Fixture(t, w.Acme, "web"), newBus(w, "place"), w.Acme.As(actor.Viewer)
		_, d, _ := b.instance(t, p, "web", true)
		start := func(second time.Duration) string {
			return stateOf(b.service("web"), second*time.Second, "IN_PROGRESS", "ecs-svc/1", "")
		}
		const moved, started = "2026-03-05T16:00:30Z SERVICE_DESIRED_COUNT_UPDATED\n", " SERVICE_DEPLOYMENT_IN_PROGRESS\n"
		for _, c := range []struct {
			document, events string
			waiting          int
		}{
			{action(b.service("web"), 30*time.Second, "SERVICE_DESIRED_COUNT_UPDATED", ""), moved, 0},
			// It was before the deployment had begun, so it is of none that is known.
			{start(40), "2026-03-05T16:00:40Z" + started, 1},
			{start(20), "2026-03-05T16:00:20Z" + started + moved + "2026-03-05T16:00:40Z" + started, 0},
		} {
			b.receive(t, c.document)
			data, err := w.Store.Client.Deployment.GetX(ctx, d.ID).Data.Data()
			if err != nil {
				t.Fatal(err)
			}
			var events strings.Builder
			for _, e := range data.Events {
				fmt.Fprintln(&events, *e.StartedAt, *e.Message)
			}
			if diff := gocmp.Diff(c.events, events.String()); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
			if n := w.Store.Client.CloudEvent.Query().Where(cloudevent.PendingSinceNotNil()).CountX(ctx); n != c.waiting {
				t.Errorf("%d events wait, want %d, after %s", n, c.waiting, c.document)
			}
		}
	})
}

func TestEventsThatComeAtOnceAllCount(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b, ctx := w.Fixture(t, w.Acme, "web"), newBus(w, "once"), w.Acme.As(actor.Viewer)
		_, held, lease := b.instance(t, p, "held", true)
		outside, _, _ := b.instance(t, p, "outside", false)
		// One id is that of one event, whatever its service.
		one := stateOf(b.service("unknown"), time.Hour, "IN_PROGRESS", "ecs-svc/3", "")
		service := `"resources":["` + b.service("unknown")
		documents := []string{
			stateOf(b.service("held"), time.Second, "IN_PROGRESS", "ecs-svc/1", ""), stateOf(b.service("held"), time.Hour, "COMPLETED", "ecs-svc/1", ""),
			stateOf(b.service("outside"), time.Hour, "IN_PROGRESS", "ecs-svc/2", ""), stateOf(b.service("outside"), 2*time.Hour, "COMPLETED", "ecs-svc/2", ""),
		}
		for i := range 6 {
			minute := time.Duration(i+1) * time.Minute
			documents = append(documents,
				action(b.service("held"), minute, fmt.Sprint("ACTION_", i), ""), action(b.service("outside"), time.Hour+minute, fmt.Sprint("ACTION_", i), ""),
				strings.Replace(one, service, fmt.Sprint(service, i), 1))
		}
		var all sync.WaitGroup
		for _, text := range append(documents, documents...) {
			all.Go(func() {
				b.receive(t, text)
			})
		}
		for range 8 {
			all.Go(func() {
				report := execution.Report{Data: strictjson.MustParse(`{"events":[{"message":"mine"}]}`)}
				if _, _, err := b.deploy.Execution.Report(w.Acme.As(actor.Runner), held.ID, lease, report); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		// Nothing comes after these that would make up for one that the other has not seen.
		for i := range 8 {
			name := fmt.Sprint("pair", i)
			b.instance(t, p, name, false)
			var both sync.WaitGroup
			for minute, what := range []string{"IN_PROGRESS", "COMPLETED"} {
				both.Go(func() {
					b.receive(t, stateOf(b.service(name), time.Hour+time.Duration(minute)*time.Minute, what, "ecs-svc/"+name, ""))
				})
			}
			both.Wait()
			list := w.Store.Client.Deployment.Query().Where(entdeployment.ExternalDeploymentID("ecs-svc/" + name)).AllX(ctx)
			if len(list) != 1 || list[0].Status != "SUCCEEDED" {
				t.Errorf("%s has become %v", name, list)
			}
		}
		started := w.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(outside.ID), entdeployment.TriggerSource("event")).OnlyX(ctx)
		if started.Status != "SUCCEEDED" {
			t.Errorf("it is %s", started.Status)
		}
		for d, want := range map[string]int{held.ID: 16, started.ID: 8} {
			if data, err := w.Store.Client.Deployment.GetX(ctx, d).Data.Data(); err != nil || len(data.Events) != want {
				t.Errorf("%d events, want %d, %v", len(data.Events), want, err)
			}
		}
		if n := w.Store.Client.CloudEvent.Query().CountX(ctx); n != 33 {
			t.Errorf("%d events are kept, want 33", n)
		}
	})
}

func TestEventsWaitUntilARunnerTellsTheirDeployment(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b := w.Fixture(t, w.Acme, "web"), newBus(w, "named")
		_, d, lease := b.instance(t, p, "web", true)
		b.receive(t, stateOf(b.service("web"), time.Minute, "COMPLETED", "ecs-svc/9", "its start never came"))
		if now := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID); now.Version != d.Version {
			t.Errorf("an event of something unknown made version %d", now.Version)
		}
		reported, _, err := b.deploy.Execution.Report(w.Acme.As(actor.Runner), d.ID, lease, execution.Report{ExternalDeploymentID: new("ecs-svc/9")})
		if err != nil || !strings.Contains(string(reported.Data.JSON()), "its start never came") {
			t.Errorf("%v, %v", reported, err)
		}
	})
}

func TestEventsChangeNothingOfOthers(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b := w.Fixture(t, w.Acme, "web"), newBus(w, "others")
		_, mine, _ := b.instance(t, p, "web", true)
		start := stateOf(b.service("web"), time.Second, "IN_PROGRESS", "ecs-svc/1", "")
		if err := b.deploy.CloudEvents.ReceiveECSEvent(w.Globex.As(actor.Runner), strictjson.MustParse(start)); err != nil {
			t.Fatal(err)
		}
		b.receive(t, strings.ReplaceAll(start, "123456789012", "210987654321"))
		if now := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), mine.ID); now.Version != mine.Version || now.ExternalDeploymentID != nil {
			t.Errorf("version %d, then %d", mine.Version, now.Version)
		}
		if n := w.Store.Client.Deployment.Query().CountX(w.Globex.As(actor.Viewer)); n != 0 {
			t.Errorf("%d deployments of the other organization", n)
		}
		elsewhere := *actor.From(w.Acme.As(actor.Runner))
		elsewhere.Scope = &actor.Scope{Projects: []string{"prj_x"}}
		err := b.deploy.CloudEvents.ReceiveECSEvent(actor.With(t.Context(), &elsewhere), strictjson.MustParse(start))
		refusedAs(t, err, fault.DeploymentForbidden)
		refusedAs(t, b.deploy.CloudEvents.ReceiveECSEvent(w.Acme.As(actor.Admin), strictjson.MustParse(start)), fault.DeploymentForbidden)
		// Before the service is known nobody can tell; it counts when it is.
		late := stateOf(b.service("late"), time.Second, "IN_PROGRESS", "ecs-svc/2", "")
		if err := b.deploy.CloudEvents.ReceiveECSEvent(actor.With(t.Context(), &elsewhere), strictjson.MustParse(late)); err != nil {
			t.Fatal(err)
		}
		_, other, _ := b.instance(t, p, "late", true)
		if n, err := b.deploy.CloudEvents.RetryEvents(t.Context()); n != 1 || err != nil {
			t.Errorf("%d services, %v", n, err)
		}
		if now := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), other.ID); now.ExternalDeploymentID != nil {
			t.Errorf("an event out of its scope became %s", *now.ExternalDeploymentID)
		}
	})
}

func TestOldEventsAreRemovedAndThoseThatFitNothingCounted(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b := w.Fixture(t, w.Acme, "web"), newBus(w, "old")
		b.instance(t, p, "web", false)
		b.receive(t, stateOf(b.service("web"), time.Hour, "IN_PROGRESS", "ecs-svc/1", ""), stateOf(b.service("x"), time.Hour, "IN_PROGRESS", "ecs-svc/2", ""))
		var log bytes.Buffer
		kept := func(after time.Duration) int {
			house := w.RetentionAt(received.Add(after))
			house.Deploy.CloudEvents.Log = slog.New(slog.NewTextHandler(&log, nil))
			if _, err := house.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
			return w.Store.Client.CloudEvent.Query().CountX(w.Acme.As(actor.Viewer))
		}
		for _, c := range []struct {
			after time.Duration
			kept  int
		}{{23 * time.Hour, 2}, {24 * time.Hour, 1}, {15*24*time.Hour - time.Second, 1}, {15 * 24 * time.Hour, 0}} {
			if n := kept(c.after); n != c.kept {
				t.Errorf("%d events after %s, want %d", n, c.after, c.kept)
			}
		}
		if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "count=1") || !strings.Contains(text, w.Acme.ID) {
			t.Errorf("logged %q", text)
		}
	})
}

// No server may have run for longer than events are kept.
func TestEventsThatFitNothingAreCountedHoweverLate(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		b := newBus(w, "late")
		b.receive(t, stateOf(b.service("x"), time.Hour, "IN_PROGRESS", "ecs-svc/2", ""))
		var log bytes.Buffer
		house := w.RetentionAt(received.Add(30 * 24 * time.Hour))
		house.Deploy.CloudEvents.Log = slog.New(slog.NewTextHandler(&log, nil))
		if _, err := house.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		n, text := w.Store.Client.CloudEvent.Query().CountX(w.Acme.As(actor.Viewer)), log.String()
		if n != 0 || !strings.Contains(text, "count=1") || !strings.Contains(text, w.Acme.ID) {
			t.Errorf("%d events are left, logged %q", n, text)
		}
	})
}

func TestTheEventsThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	b := newBus(w, "bound")
	var log bytes.Buffer
	b.deploy.CloudEvents.Log = slog.New(slog.NewTextHandler(&log, nil))
	for i := range 1003 {
		b.receive(t, stateOf(b.service("x"), time.Duration(i)*time.Second, "IN_PROGRESS", "ecs-svc/2", ""))
	}
	if n := w.Store.Client.CloudEvent.Query().CountX(w.Acme.As(actor.Viewer)); n != 1000 {
		t.Errorf("%d events wait", n)
	}
	// The oldest go, and are counted.
	if n := w.Store.Client.CloudEvent.Query().Where(cloudevent.OccurredAtLT(at.Add(3 * time.Second))).CountX(w.Acme.As(actor.Viewer)); n != 0 {
		t.Errorf("%d of the oldest wait", n)
	}
	if text := log.String(); strings.Count(text, "count=1 ")+strings.Count(text, "count=1\n") != 3 {
		t.Errorf("logged %q", text)
	}
}
