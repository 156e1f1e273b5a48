package plan_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph/plan"
)

var woolf = &author{name: "Woolf"}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const null = "the requested element is null which the schema does not allow"
	shelves := func(list ...[]any) library { return library{shelves: list} }
	emma := &book{"Emma", func(_ context.Context, role string) (*author, error) { return &author{name: role}, nil }}
	torn := &book{"Torn", func(_ context.Context, role string) (*author, error) { return nil, errors.New("torn " + role) }}
	burnt := &book{"Burnt", func(context.Context, string) (*author, error) { panic("fire") }}
	reported := &book{"Reported", func(ctx context.Context, _ string) (*author, error) {
		graphql.AddError(ctx, errors.New("no author"))
		return nil, nil //nolint:nilnil // the error is reported
	}}
	for name, c := range map[string]struct {
		library        library
		document, want string
	}{
		"fragments are merged": {shelves([]any{emma}),
			`{ shelves { ...a ... on Book { author(role: "x") { name } title } } } fragment a on Book { author(role: "x") { __typename } t: title }`,
			`{"shelves":[[{"author":{"__typename":"Author","name":"x"},"t":"Emma","title":"Emma"}]]}`},
		"the members of a union are told apart": {shelves([]any{emma, woolf}),
			`{ __typename shelves { type: __typename ... on Book { title } ... on Author { name } } }`,
			`{"__typename":"Query","shelves":[[{"type":"Book","title":"Emma"},{"type":"Author","name":"Woolf"}]]}`},
		"a name selected of a union and of its member is written once": {shelves([]any{emma}),
			`{ shelves { __typename ... on Book { __typename title } } }`,
			`{"shelves":[[{"__typename":"Book","title":"Emma"}]]}`},
		"what is deferred is in the one answer": {shelves([]any{emma}),
			`{ shelves { ... on Book @defer { title } } }`,
			`{"shelves":[[{"title":"Emma"}]]}`},
		"a null travels up to the innermost list that may be null": {shelves([]any{emma, nil}, nil, []any{emma}),
			`{ shelves { ... on Book { title } } }`,
			`{"shelves":[null,null,[{"title":"Emma"}]]}` + "\ninput: shelves[0][1] " + null},
		"an error has the path of its alias and the place of its field": {shelves([]any{emma}, []any{emma, torn}),
			"{ all: shelves { ... on Book {\n  by: author(role: \"x\") { name } } } }",
			`{"all":[[{"by":{"name":"x"}}],null]}` + "\ninput:2:3: all[1][1].by torn x"},
		"siblings of a null are resolved all the same": {shelves([]any{torn}, []any{emma, torn}),
			`{ shelves { ... on Book { a: author(role: "a") { name } b: author(role: "b") { name } } } }`,
			`{"shelves":[null,null]}` + "\ninput:1:27: shelves[0][0].a torn a\ninput:1:27: shelves[1][1].a torn a" +
				"\ninput:1:57: shelves[0][0].b torn b\ninput:1:57: shelves[1][1].b torn b"},
		"a panic is an error of its field": {shelves([]any{burnt}, []any{emma}, []any{emma, burnt}),
			`{ shelves { ... on Book { a: author(role: "x") { name } b: author(role: "x") { name } } } __typename }`,
			`{"shelves":[null,[{"a":{"name":"x"},"b":{"name":"x"}}],null],"__typename":"Query"}` + "\ninput: shelves[0][0].a panic: fire" +
				"\ninput: shelves[0][0].b panic: fire\ninput: shelves[2][1].a panic: fire\ninput: shelves[2][1].b panic: fire"},
		"a list is empty whose item panics": {shelves([]any{emma, 5, nil}, []any{emma}),
			`{ shelves { __typename } }`,
			`{"shelves":[[],[{"__typename":"Book"}]]}` + "\ninput: shelves[0][1] panic: unexpected type int\ninput: shelves[0][2] " + null},
		"a null that a resolver reported itself has one error": {shelves([]any{reported}),
			`{ shelves { ... on Book { author(role: "x") { name } } } }`,
			`{"shelves":[null]}` + "\ninput: shelves[0][0].author no author"},
		"nulls at one path have one error, and travel up to the root": {library{titles: make([]*string, 2)},
			`{ __typename titles }`, "null\ninput: titles " + null},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := execute(t.Context(), newExecutor(c.library, plan.Options{}), c.document, nil); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestEachOutcomeOfConditionsHasAPlan(t *testing.T) {
	t.Parallel()
	var kept *plan.Operation
	e := newExecutor(library{shelves: [][]any{{woolf}}}, plan.Options{Operation: func(oc *graphql.OperationContext) *plan.Operation {
		if kept == nil {
			kept = plan.Compile(oc.Doc, oc.Operation)
		}
		return kept
	}})
	e.SetQueryCache(graphql.MapCache[*ast.QueryDocument]{})
	const document = `query($a: Boolean!, $b: Boolean!) { shelves { __typename ... on Author @skip(if: $a) { name } ...b @include(if: $b) } }
		fragment b on Author { again: name }`
	for range 2 {
		for i, names := range []string{`,"name":"Woolf"`, ``, `,"name":"Woolf","again":"Woolf"`, `,"again":"Woolf"`} {
			got := execute(t.Context(), e, document, map[string]any{"a": i&1 != 0, "b": i&2 != 0})
			if want := `{"shelves":[[{"__typename":"Author"` + names + `}]]}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

// What is beyond the bound is cut off in the middle of lists, so that a long one takes no memory before its end.
func TestValuesAreKeptUpToABound(t *testing.T) {
	t.Parallel()
	l := library{shelves: make([][]any, 1000), titles: slices.Repeat([]*string{&woolf.name}, 1000)}
	for document, want := range map[string]string{
		`{ shelves { __typename } }`: `{"shelves":[null,null,nu]}`,
		`{ titles }`:                 `{"titles":["Woolf","Woo]}`,
	} {
		if got := execute(t.Context(), newExecutor(l, plan.Options{MaxBytes: 12}), document, nil); got != want {
			t.Errorf("%s: got %.200s, want %s", document, got, want)
		}
	}
}

func TestResolversSeeTheirField(t *testing.T) {
	t.Parallel()
	seen := ""
	emma := &book{"Emma", func(ctx context.Context, _ string) (*author, error) {
		f := graphql.GetFieldContext(ctx)
		seen += fmt.Sprintln(f.Path(), f.Object, f.Field.Name, f.Args, f.IsMethod, f.IsResolver)
		return woolf, nil
	}}
	execute(t.Context(), newExecutor(library{shelves: [][]any{{woolf, emma}}}, plan.Options{}),
		`query($r: String!) { shelves { ... on Book { a: author(role: $r) { name } b: author(role: "b") { name } } } }`,
		map[string]any{"r": "a"})
	if want := "shelves[0][1].a Book author map[role:a] true false\nshelves[0][1].b Book author map[role:b] true false\n"; seen != want {
		t.Errorf("got %s, want %s", seen, want)
	}
}

// observer notes what it is told, and refuses one of that.
type observer struct {
	notes    []string
	refuses  string
	discards bool
}

func (o *observer) Begin(ctx context.Context, f *graphql.FieldContext) error {
	return o.note(ctx, "begin", f.Field.Name)
}

func (o *observer) Resolved(ctx context.Context, f *graphql.FieldContext, value any) error {
	return o.note(ctx, "value of "+f.Field.Name, value)
}

func (o *observer) Text(ctx context.Context, length int) error { return o.note(ctx, "text", length) }

func (o *observer) Discards() bool { return o.discards }

func (o *observer) note(ctx context.Context, what string, value any) error {
	note := fmt.Sprintf("%s: %s %v", graphql.GetPath(ctx), what, value)
	if o.notes = append(o.notes, note); note == o.refuses {
		return errors.New("refused")
	}
	return nil
}

func TestObserverIsToldAndRefuses(t *testing.T) {
	t.Parallel()
	l := library{shelves: [][]any{{woolf}}, titles: []*string{}}
	notes := []string{"all: begin shelves", fmt.Sprint("all: value of shelves ", l.shelves), "all[0][0].by: text 5", "titles: value of titles []"}
	for refused, want := range map[string]string{
		"nothing": `{"all":[[{"by":"Woolf"}]],"titles":[]}`,
		notes[0]:  `{"all":null,"titles":[]}` + "\ninput:1:3: all refused",
		notes[1]:  `{"all":null,"titles":[]}` + "\ninput:1:3: all refused",
		notes[2]:  `{"all":[null],"titles":[]}` + "\ninput:1:34: all[0][0].by refused",
		notes[3]:  "null\ninput:1:47: titles refused",
	} {
		o := &observer{refuses: refused}
		e := newExecutor(l, plan.Options{Observe: func(context.Context) plan.Observer { return o }})
		if got := execute(t.Context(), e, `{ all: shelves { ... on Author { by: name } } titles }`, nil); got != want {
			t.Errorf("refuses %q: got %s, want %s", refused, got, want)
		}
		if refused == "nothing" && !slices.Equal(o.notes, notes) {
			t.Errorf("got %q, want %q", o.notes, notes)
		}
	}
}

func TestAnAnswerThatIsDiscardedIsNotPutTogether(t *testing.T) {
	t.Parallel()
	o := &observer{discards: true}
	e := newExecutor(library{shelves: [][]any{{woolf}}}, plan.Options{Observe: func(context.Context) plan.Observer { return o }})
	for _, query := range []string{`{ shelves { __typename } }`, `{ a: shelves { __typename } b: shelves { __typename } }`} {
		if got := execute(t.Context(), e, query, nil); got != "null" {
			t.Errorf("%s: got %s, want null", query, got)
		}
	}
}

// The clock goes on when all wait, so siblings that wait side by side take one second. A resolver that waits for what it
// needs of a whole list does so at the first item; the others find it there.
func TestSiblingsWaitSideBySideAtFirstItems(t *testing.T) {
	t.Parallel()
	slow := &book{"Slow", func(context.Context, string) (*author, error) {
		<-time.After(time.Second)
		return woolf, nil
	}}
	for name, c := range map[string]struct {
		shelves [][]any
		seconds int
	}{
		"first item of the first list":  {[][]any{{slow}}, 1},
		"second item of the first list": {[][]any{{woolf, slow}}, 2},
		"first item of the second list": {[][]any{{}, {slow}}, 2},
		"first item after other lists":  {[][]any{{&author{books: []*book{slow, slow}}}}, 3 + 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				execute(t.Context(), newExecutor(library{shelves: c.shelves}, plan.Options{}),
					`{ shelves { ...two ... on Author { x: books { ...two } y: books { ...two } } } }
					fragment two on Book { a: author(role: "x") { name } b: author(role: "x") { name } }`, nil)
				if took := time.Since(began); took != time.Duration(c.seconds)*time.Second {
					t.Errorf("took %v, want %d s", took, c.seconds)
				}
			})
		})
	}
}

// Texts from none to 100 KB, and nulls, panics and refusals between them, which take back what was written before.
func TestLongAnswersAreWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	name := func() string {
		return strings.Repeat(string(rune('a'+random.IntN(26))), random.IntN(8)*random.IntN(15_000))
	}
	for range 40 {
		var shelves [][]any
		var want strings.Builder
		for range 1 + random.IntN(6) {
			var shelf []any
			var of []string
			isNull := false
			for range random.IntN(8) {
				title, by := name(), name()
				switch random.IntN(12) {
				case 0:
					shelf = append(shelf, &book{title, func(context.Context, string) (*author, error) { return nil, errors.New("torn") }})
					isNull = true
				case 1:
					shelf = append(shelf, &book{title, func(context.Context, string) (*author, error) { panic("fire") }})
					isNull = true
				case 2:
					shelf = append(shelf, &author{name: title, books: []*book{{title: by}}})
					of = append(of, fmt.Sprintf(`{"name":%q,"books":[{"title":%q}]}`, title, by))
				default:
					shelf = append(shelf, &book{title, func(context.Context, string) (*author, error) {
						return &author{name: by, books: []*book{{title: title}, {title: by}}}, nil
					}})
					author := fmt.Sprintf(`{"name":%q,"books":[{"title":%q},{"title":%q}]}`, by, title, by)
					of = append(of, fmt.Sprintf(`{"title":%q,"author":%s,"again":%q,"more":%s}`, title, author, title, author))
				}
			}
			shelves = append(shelves, shelf)
			if want.Len() > 0 {
				want.WriteByte(',')
			}
			switch {
			case isNull || shelf == nil:
				want.WriteString("null")
			default:
				want.WriteString("[" + strings.Join(of, ",") + "]")
			}
		}
		e := newExecutor(library{shelves: shelves}, plan.Options{})
		most := 1 + random.IntN(300_000)
		cut := "[" + want.String() + "]"
		if len(cut) > most+1 {
			cut = cut[:most+1] + "]"
		}
		const shelf = `{ ... on Book { title author(role: "") { ...all } again: title more: author(role: "") { ...all } } ...all }`
		const all = ` fragment all on Author { name books { title } }`
		for document, want := range map[string]string{
			`{ shelves ` + shelf + ` }` + all:                             `{"shelves":[` + want.String() + `]}`,
			`{ shelves ` + shelf + ` twice: shelves` + shelf + ` }` + all: `{"shelves":[` + want.String() + `],"twice":[` + want.String() + `]}`,
		} {
			got, _, _ := strings.Cut(execute(t.Context(), e, document, nil), "\n")
			if got != want {
				t.Fatalf("got %d bytes, want %d: %s", len(got), len(want), cmp.Diff(want, got))
			}
		}
		bounded := newExecutor(library{shelves: shelves}, plan.Options{MaxBytes: most})
		got, _, _ := strings.Cut(execute(t.Context(), bounded, `{ shelves `+shelf+` }`+all, nil), "\n")
		if want := `{"shelves":` + cut + `}`; got != want {
			t.Fatalf("of %d bytes got %d, want %d: %s", most, len(got), len(want), cmp.Diff(want, got))
		}
	}
}
