package e2e_test

import (
	"sync"
	"testing"
	"time"

	"slipway-ecs/internal/test/fake"
)

// gate holds the program up at its first look at a stage, or in a status if there are no stages.
type gate struct {
	stage   string
	reached chan struct{}
	release chan struct{}
	once    sync.Once
}

func newGate(stage string) *gate {
	return &gate{stage: stage, reached: make(chan struct{}), release: make(chan struct{})}
}

func (g *gate) intercept(c fake.Call) fake.Verdict {
	if c.Operation == "DescribeServiceDeployments" && !c.Done && (c.Stage == g.stage || c.Stage == "" && c.Status == g.stage) {
		g.once.Do(func() {
			close(g.reached)
			<-g.release
		})
	}
	return fake.Verdict{}
}

// wait waits until the program is there.
func (g *gate) wait(t *testing.T) {
	t.Helper()
	select {
	case <-g.reached:
	case <-time.After(30 * time.Second):
		t.Fatalf("the program never came to %s", g.stage)
	}
}
