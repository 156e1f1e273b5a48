package executortest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/ent"
	"slipway/ent/deploymentchange"
	"slipway/internal/base/actor"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/resolvertest"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

var idOf = regexp.MustCompile(`"([a-z]+)_[0-9a-z]{26}"`)

// kinds are those of the records that arguments are the ids of, by the names of arguments and, for id, of fields.
var kinds = map[string]string{
	"deployment": "dep", "moduleInstance": "inst", "release": "rel", "project": "prj", "environment": "env", "moduleDefinition": "mod",
	"moduleVersion": "mver", "defaultValueDefinition": "dvd", "from": "dep", "to": "dep",
}

// Queries over rows, by the resolvers of the program with their batches. A plan tells a resolver of its field by the context,
// and by the same context the next one, so no resolver may ask it after it has returned.
func TestBothExecutorsAnswerTheSameOverADatabase(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		fill(t, w)
		var late sync.Map
		lend := func(ctx context.Context, f resolvertest.Field, resolve func(context.Context) (any, error)) (any, error) {
			l := &lent{Context: ctx, late: func() { late.Store(f.Name, true) }}
			defer l.returned.Store(true)
			return resolve(l)
		}
		c := comparison{handlers: map[executor]http.Handler{}, asked: map[string]int{}}
		for _, e := range []executor{plans, gqlgen} {
			c.handlers[e] = handler(resolvertest.Around(w.Services.Resolver(), lend), e, w.Acme.ID, generous)
		}
		a := c.author(t)
		for c.executed < *documents/10 {
			c.compare(t, a.write(ast.Query), ast.Query)
		}
		t.Logf("%d executed, %d refused, %d with errors, %d differ, %d bytes", c.executed, c.refused, c.failed, c.different, c.bytes)
		late.Range(func(field, _ any) bool {
			t.Errorf("%s: the context is asked for the field after the resolver has returned", field)
			return true
		})
	})
}

// fill makes deployments, each with a rollback to it.
func fill(t *testing.T, w *worldtest.World) {
	t.Helper()
	p, last := w.Fixture(t, w.Acme, "web"), ""
	for i := range 4 {
		target := p.Finish(t, p.Deploy(t, p.NewInstance(t, fmt.Sprintf("web-%d", i)).ID, fmt.Sprintf(`{"image":"web:%d"}`, i)), nil)
		back, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: target.ID})
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, &ent.Deployment{ID: back.ID}, nil)
		last = back.ID
	}
	// A transaction of another test, which shares PostgreSQL's cluster, may keep changes waiting, and their cursors tell the time.
	testkit.Eventually(t, "the changes are settled", func() bool {
		change, err := w.Store.LastChange(w.Acme.As(actor.Viewer))
		return err == nil && change != nil && change.DeploymentID == last && change.Kind == deploymentchange.KindCOMPLETED
	})
}

// author returns an author whose documents ask for records that there are.
func (c *comparison) author(t *testing.T) *author {
	t.Helper()
	ids := map[string][]string{}
	const every = `{ deployments(first: 50) { nodes { id releaseId rollbackTo { id } redeployOf { id } } } moduleInstances { nodes { id } } projects { nodes { id } }
		environments { nodes { id } } moduleDefinitions { nodes { id versions { nodes { id } } } } defaultValueDefinitions { nodes { id } } }`
	for _, found := range idOf.FindAllStringSubmatch(c.ask(t, gqlgen, written{text: every}, ast.Query).data, -1) {
		ids[found[1]] = append(ids[found[1]], strings.Trim(found[0], `"`))
	}
	a := &author{Rand: rand.New(rand.NewPCG(*seed, 7)), schema: schema}
	a.values = func(field, argument string) (any, bool) {
		kind := kinds[strings.TrimSuffix(argument, "Id")]
		if argument == "id" {
			kind = kinds[field]
		}
		switch {
		case argument == "after" || argument == "before" || argument == "organizationId":
			return nil, true
		case len(ids[kind]) == 0 || a.chance(.03):
			return nil, false
		}
		return ids[kind][a.IntN(len(ids[kind]))], true
	}
	return a
}

// lent is a context that says when it is asked for the field after the resolver that it was lent to has returned.
type lent struct {
	context.Context
	returned atomic.Bool
	late     func()
}

func (l *lent) Value(key any) any {
	if l.returned.Load() && key == fieldKey {
		l.late()
	}
	return l.Context.Value(key)
}

// fieldKey is what contexts are asked for the field by.
var fieldKey = func() any {
	asked := &keyOf{Context: context.Background()}
	graphql.GetFieldContext(asked)
	return asked.key
}()

type keyOf struct {
	context.Context
	key any
}

func (k *keyOf) Value(key any) any {
	k.key = key
	return nil
}
