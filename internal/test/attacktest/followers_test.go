package attacktest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"slipway/internal/base/actor"
)

// follows is how many subscriptions follow the same deployments.
const follows = 40

// followers are attacks by the items of subscriptions. The server of these has callers spend little more than it costs to
// open the subscriptions, and gives them nothing back.
func followers() []attack {
	return []attack{{
		name: "40 subscriptions to releases of 200 KB under 20 aliases, and two changes", want: ".*200 Request:RATE_LIMITED costCapacity.*",
		requests: follows, cpu: 400 * time.Millisecond, why: "one deployment of 200 KB is made, and a few items of 4 MB", run: followChanges,
	}}
}

// followChanges opens subscriptions as a viewer of its own, and has the developer make a deployment of 200 KB and cancel it.
// It returns what the subscriptions heard.
func followChanges(ctx context.Context, c *caller) (string, error) {
	token, err := c.unseen()
	if err != nil {
		return "", err
	}
	viewer := c.with(token)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var list struct{ Deployments struct{ FeedCursor string } }
	if err := viewer.into(ctx, "{ deployments(first: 1) { feedCursor } }", nil, &list); err != nil {
		return "", err
	}
	query := fmt.Sprintf(`subscription { deploymentsChanged(after: "%s", filter: {deploymentType: "terraform"}) { deployment { id %s } } }`,
		list.Deployments.FeedCursor, each(20, "a%d: release { inputs } "))
	var heard tally
	var following sync.WaitGroup
	for range follows {
		following.Go(func() { heard.add(viewer.hearTwo(ctx, query)) })
	}
	err = c.as(actor.Admin).changeTwice(ctx, "followed-"+token[len(token)-4:])
	if err != nil {
		cancel() // nothing will be heard
	}
	following.Wait()
	return heard.kinds(), err
}

// hearTwo follows changes until two have come, or it is refused.
func (c *caller) hearTwo(ctx context.Context, query string) string {
	conn, err := c.stream(ctx, query)
	if err != nil {
		return err.Error()
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer func() { _ = conn.Close() }()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err.Error()
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, mostRead)
	got := "nothing"
	for items := 0; items < 2 && lines.Scan(); {
		if data, found := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); found {
			items++
			if got = verdict(answer.StatusCode, data); got != "200" {
				break
			}
		}
	}
	return got
}

// changeTwice makes a deployment and cancels it.
func (c *caller) changeTwice(ctx context.Context, name string) error {
	var made struct {
		CreateModuleInstance struct{ ModuleInstance struct{ ID string } }
		CreateDeployment     struct{ Deployment struct{ ID string } }
	}
	for _, step := range []struct {
		query     string
		variables func() object
	}{
		{"mutation($i: CreateModuleInstanceInput!) { createModuleInstance(input: $i) { moduleInstance { id } } }", func() object {
			return object{"environmentId": c.stock.environment, "moduleDefinitionId": c.stock.module, "name": name}
		}},
		{"mutation($i: CreateDeploymentInput!) { createDeployment(input: $i) { deployment { id } } }", func() object {
			return object{"moduleInstanceId": made.CreateModuleInstance.ModuleInstance.ID, "moduleVersionId": c.stock.plain, "inputs": object{"o": bulk("x")}}
		}},
		{"mutation($i: CancelDeploymentInput!) { cancelDeployment(input: $i) { deployment { id } } }", func() object {
			return object{"id": made.CreateDeployment.Deployment.ID}
		}},
	} {
		if err := c.into(ctx, step.query, object{"i": step.variables()}, &made); err != nil {
			return err
		}
	}
	return nil
}

// into asks for an operation, which must succeed, and reads its data.
func (c *caller) into(ctx context.Context, query string, variables, data any) error {
	body, err := operation(query, variables)
	if err != nil {
		return err
	}
	status, answer, err := c.exchange(ctx, request{body: bytes.NewReader(body)})
	if err != nil {
		return err
	}
	if got := verdict(status, answer); got != "200" {
		return fmt.Errorf("%s: %s: %.500s", query, got, answer)
	}
	return json.Unmarshal(answer, &struct{ Data any }{data})
}
