// Package executortest holds the executor of plans against gqlgen's: the same documents, over the same resolvers, have to
// get the same answers.
package executortest_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway"
	"slipway/graph"
	"slipway/graph/generated"
	"slipway/internal/base/actor"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/test/resolvertest"
)

var (
	documents = flag.Int("documents", 600, "how many documents are executed")
	seed      = flag.Uint64("seed", 0, "what the documents and the values of resolvers are made from")
)

var schema = gqlparser.MustLoadSchema(&ast.Source{Input: string(slipway.Schema)})

// generous limits let all documents through.
var generous = document.Limits{
	Depth: 40, Cost: 1_000_000_000, Aliases: 100_000, Selections: 1_000_000, Tokens: 1_000_000, Brackets: 1000, Fragments: 1_000_000,
	Merging: 10_000_000, Directives: 10_000, Repeats: 1000,
	Introspection: 10_000_000,
}

// handler returns an endpoint over resolvers, for the admin of an organization.
func handler(root generated.ResolverRoot, e executor, organizationID string, limits document.Limits) http.Handler {
	endpoint := endpoints[e](root, graph.Config{
		HTTP: gqlhttp.HTTP{MaxQuery: 1 << 20, MaxBody: 1 << 22, Streams: stream.New(stream.Config{})},
		Server: gqlhttp.Config{
			Introspection: true, Limits: limits, Presenter: gqlhttp.Presenter{Log: slog.New(slog.DiscardHandler)},
		},
	})
	a := &actor.Actor{ID: "tok_1", Role: actor.Admin, OrganizationID: organizationID, Channel: actor.GraphQL}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, expire := context.WithCancel(actor.WithRequestID(actor.With(r.Context(), a), "request"))
		defer expire()
		endpoint.ServeHTTP(w, r.WithContext(context.WithValue(ctx, expireKey{}, expire)))
	})
}

// fabricated returns the endpoints of both executors over resolvers whose values are made up.
func fabricated(seed uint64, how behaviour) map[executor]http.Handler {
	handlers, limits := map[executor]http.Handler{}, generous
	if how == exceed {
		limits.Answer = 1000
	}
	for _, e := range []executor{plans, gqlgen} {
		handlers[e] = handler(resolvertest.Around(&graph.Resolver{}, fabricator{seed, how}.call), e, "org_1", limits)
	}
	return handlers
}

// answer is what of an answer has to be the same.
type answer struct {
	status     int
	events     []string
	data       string
	errors     []string
	extensions string
}

func (a *answer) read(t testing.TB, text []byte) {
	t.Helper()
	var parts struct {
		Data, Extensions json.RawMessage
		Errors           []json.RawMessage
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatalf("%v: %.1000s", err, text)
	}
	a.data, a.extensions = string(parts.Data), string(parts.Extensions)
	for _, e := range parts.Errors {
		a.errors = append(a.errors, string(e))
	}
	slices.Sort(a.errors)
}

// difference returns how two answers differ, empty if they do not.
func difference(plan, gqlgen answer) string {
	var b strings.Builder
	if plan.status != gqlgen.status {
		fmt.Fprintf(&b, "status %d, gqlgen %d\n", plan.status, gqlgen.status)
	}
	if plan.data != gqlgen.data {
		at := 0
		for at < min(len(plan.data), len(gqlgen.data)) && plan.data[at] == gqlgen.data[at] {
			at++
		}
		begin := max(0, at-100)
		fmt.Fprintf(&b, "data from byte %d on: %.300s\n               gqlgen: %.300s\n", at, plan.data[min(begin, len(plan.data)):], gqlgen.data[min(begin, len(gqlgen.data)):])
	}
	for what, lists := range map[string][2][]string{
		"error": {plan.errors, gqlgen.errors}, "event": {plan.events, gqlgen.events}, "extensions": {{plan.extensions}, {gqlgen.extensions}},
	} {
		if !slices.Equal(lists[0], lists[1]) {
			fmt.Fprintf(&b, "%s only with plans: %.1500s\n%[1]s only with gqlgen: %.1500s\n", what, without(lists[0], lists[1]), without(lists[1], lists[0]))
		}
	}
	return b.String()
}

// without returns what one list has more of than another.
func without(list, other []string) (more []string) {
	count := map[string]int{}
	for _, text := range other {
		count[text]++
	}
	for _, text := range list {
		if count[text]--; count[text] < 0 {
			more = append(more, text)
		}
	}
	return more
}

func kindOf(r *rand.Rand) ast.Operation {
	return []ast.Operation{ast.Query, ast.Query, ast.Query, ast.Query, ast.Query, ast.Mutation, ast.Mutation, ast.Subscription}[r.IntN(8)]
}

func TestBothExecutorsAnswerTheSame(t *testing.T) {
	t.Parallel()
	// Half of the documents meet resolvers that fail.
	behaviours := []behaviour{work, fail, work, fail, expire, fail, exceed, fail}
	asked := make([]map[string]int, len(behaviours))
	t.Run("documents", func(t *testing.T) {
		for i, how := range behaviours {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				asked[i] = compare(t, *seed*1000+uint64(i), *documents/len(behaviours), how)
			})
		}
	})
	total := map[string]int{}
	for _, fields := range asked {
		for name, n := range fields {
			total[name] += n
		}
	}
	var missing []string
	for _, name := range fieldsOf(schema) {
		if total[name] == 0 {
			missing = append(missing, name)
		}
	}
	t.Logf("%d documents asked for %d fields, and not for %v", *documents, len(total), missing)
	if *documents >= 5000 && len(missing) > 0 {
		t.Error("they have to ask for all fields")
	}
}

// compare executes documents with both executors and returns how often each field was asked for.
func compare(t *testing.T, seed uint64, documents int, how behaviour) map[string]int {
	t.Helper()
	c := comparison{how: how, handlers: fabricated(seed, how), asked: map[string]int{}}
	a := &author{Rand: rand.New(rand.NewPCG(seed, 7)), schema: schema}
	for c.executed < documents {
		kind := kindOf(a.Rand)
		if how == expire && kind == ast.Subscription {
			continue // it just ends
		}
		c.compare(t, a.write(kind), kind)
	}
	t.Logf("%d executed, %d refused, %d with errors, %d differ, %d bytes", c.executed, c.refused, c.failed, c.different, c.bytes)
	return c.asked
}

// comparison compares the answers of the two executors.
type comparison struct {
	how      behaviour
	handlers map[executor]http.Handler
	// asked is how often each field was asked for.
	asked                                       map[string]int
	executed, refused, failed, different, bytes int
}

func (c *comparison) compare(t *testing.T, d written, kind ast.Operation) {
	t.Helper()
	wanted := c.ask(t, gqlgen, d, kind)
	if wanted.status == http.StatusBadRequest {
		if c.refused++; c.refused > 100+10*c.executed {
			t.Fatalf("too many are refused: %s\n%s", wanted.errors, d.text)
		}
		return
	}
	c.executed++
	c.bytes += len(wanted.data)
	count(c.asked, d.text)
	if len(wanted.errors) > 0 {
		c.failed++
	}
	found := difference(c.ask(t, plans, d, kind), wanted)
	if found == "" {
		return
	}
	if again := difference(c.ask(t, gqlgen, d, kind), wanted); again != "" {
		t.Fatalf("gqlgen's executor answers differently each time: %s", again)
	}
	if c.different++; c.different <= 3 {
		t.Errorf("%s\n%.3000s\n%v", found, d.text, d.variables)
	}
}

// ask sends an operation to an executor.
func (c *comparison) ask(t testing.TB, e executor, d written, kind ast.Operation) (a answer) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(d.body()))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", map[bool]string{true: "text/event-stream", false: "application/graphql-response+json"}[kind == ast.Subscription])
	w := httptest.NewRecorder()
	c.handlers[e].ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Body)
	a.status = w.Code
	if kind != ast.Subscription {
		a.read(t, text)
	}
	if (c.how == expire || c.how == exceed) && kind == ast.Query && len(a.errors) > 0 {
		a.extensions = "" // what was resolved until the end differs each time
	}
	for line := range strings.Lines(string(text)) {
		if event, isData := strings.CutPrefix(line, "data: "); isData {
			var one answer
			one.read(t, []byte(event))
			a.events = append(a.events, fmt.Sprint(one))
		}
	}
	return a
}

// count counts the fields that a document asks for.
func count(asked map[string]int, text string) {
	doc, errs := gqlparser.LoadQueryWithRules(schema, text, nil)
	if errs != nil {
		return
	}
	var look func(ast.SelectionSet)
	look = func(set ast.SelectionSet) {
		for _, selected := range set {
			switch selected := selected.(type) {
			case *ast.Field:
				asked[selected.ObjectDefinition.Name+"."+selected.Name]++
				look(selected.SelectionSet)
			case *ast.InlineFragment:
				look(selected.SelectionSet)
			}
		}
	}
	for _, op := range doc.Operations {
		look(op.SelectionSet)
	}
	for _, f := range doc.Fragments {
		look(f.SelectionSet)
	}
}

// fieldsOf returns the names of all fields of object types.
func fieldsOf(schema *ast.Schema) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
		of := schema.Types[name]
		if of.Kind != ast.Object {
			continue
		}
		for _, f := range of.Fields {
			names = append(names, name+"."+f.Name)
		}
	}
	return names
}
