// Package fake is an account of AWS over HTTP, as far as slipway-ecs uses it: services, task definitions and service
// deployments of Amazon ECS, and what of Elastic Load Balancing leads to them. Answers are made of the SDK's own types.
// Service deployments go through their stages by a clock, which each look at one moves on; the events that ECS sends of
// them are kept, as EventBridge delivers them.
//
// What AWS does not document is a guess, and is marked so.
package fake

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// If the fake account is.
const (
	Region  = "eu-west-1"
	Account = "123456789012"
)

// Cloud is an account.
type Cloud struct {
	// URL is where both APIs are served.
	URL string
	// Clock is the time of the account.
	Clock *Clock
	// Page is how many items a page has at most, whatever is asked for.
	Page int
	// Endless is an operation whose lists have no end: behind each page is an empty one.
	Endless string
	// Tick is by how much each look at a service deployment moves the clock on.
	Tick time.Duration
	// Held has service deployments stay PENDING.
	Held bool
	// Unseen is how many requests do not find a service yet that was just created, because reads lag behind.
	Unseen int
	// Intercept, if it is not nil, is asked at each request, before it is carried out and after it.
	Intercept func(Call) Verdict

	server *httptest.Server
	mu     sync.Mutex
	number int
	calls  map[string]int
	// answering is the operation that is carried out.
	answering string
	answered  map[string][]time.Time
	// blind has the request that is answered find no service and no service deployment.
	blind bool
	// looks are what the request that is being answered shows of service deployments.
	looks       map[*deployment]Look
	services    map[string]*service
	deployments []*deployment
	definitions []*definition
	events      []Event
	balancers   []*loadBalancer
}

// Call is a request to the account.
type Call struct {
	// Operation is the name of it, such as UpdateService.
	Operation string
	// AccessKey is the one by which it was signed.
	AccessKey string
	// Number counts the requests of the operation from 1 on.
	Number int
	// Done is whether it has been carried out.
	Done bool
	// Stage is that of the newest service deployment, "" if it has none; Status is its status.
	Stage, Status string
}

// Verdict is what becomes of a request.
type Verdict struct {
	// Lose has the connection end without an answer. Before the request is carried out it is not carried out.
	Lose bool
	// Unseen has the request find no service and no service deployment, as a read that lags behind.
	Unseen bool
	// Code and Message are an error of AWS. Before the request is carried out it is not carried out.
	Code, Message string
	// HTTPStatus is that of the error, 400 if it is 0.
	HTTPStatus int
}

// New returns an account that serves until it is closed.
func New() *Cloud {
	c := &Cloud{
		Clock: &Clock{}, Page: 1, Tick: 5 * time.Second, calls: map[string]int{}, answered: map[string][]time.Time{},
		services: map[string]*service{}, balancers: newBalancers(),
	}
	c.server = httptest.NewServer(http.HandlerFunc(c.serve))
	c.URL = c.server.URL
	return c
}

// Close ends the account.
func (c *Cloud) Close() { c.server.Close() }

// Env returns the variables that lead the SDK to the account.
func (c *Cloud) Env() []string {
	return []string{
		"AWS_ENDPOINT_URL_ECS=" + c.URL, "AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2=" + c.URL, "AWS_REGION=" + Region,
		"AWS_ACCESS_KEY_ID=AKIAFAKEFAKEFAKEFAKE", "AWS_SECRET_ACCESS_KEY=fake-secret-of-nobody",
		"AWS_EC2_METADATA_DISABLED=true",
	}
}

// next returns a number that was not given before, with the cloud locked.
func (c *Cloud) next() int {
	c.number++
	return c.number
}

// Cluster is the ARN of the one cluster of the account.
const Cluster = "arn:aws:ecs:" + Region + ":" + Account + ":cluster/main"

func arn(kind, rest string) *string {
	text := fmt.Sprintf("arn:aws:ecs:%s:%s:%s/%s", Region, Account, kind, rest)
	return &text
}

// Calls returns how often an operation was asked for.
func (c *Cloud) Calls(operation string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[operation]
}

// Answered returns when the requests of an operation were answered.
func (c *Cloud) Answered(operation string) []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.answered[operation])
}

// Services returns the services that are there, as they are, in no order.
func (c *Cloud) Services() (all []types.Service) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.services {
		if deref(s.described.Status) != inactive {
			all = append(all, s.describe())
		}
	}
	return all
}

// Deployments returns the service deployments of all services that there ever were, in the order in which they began.
func (c *Cloud) Deployments() (all []types.ServiceDeployment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.deployments {
		all = append(all, d.ServiceDeployment)
	}
	return all
}

// TaskDefinitions returns the task definitions that are ACTIVE, with their tags.
func (c *Cloud) TaskDefinitions() (all []Definition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.definitions {
		if d.Status == types.TaskDefinitionStatusActive {
			all = append(all, d.Definition)
		}
	}
	return all
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
