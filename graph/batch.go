package graph

import (
	"context"
	"fmt"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/actor"
	"slipway/internal/data/page"
)

// A batch is the records that one statement read: the nodes of a page, or what an edge of another batch
// leads to. What they refer to by an edge is read for all of them when the first of them is asked for it,
// so that an edge costs one statement however many records there are.
type batch[T any] struct {
	records []*T
	// index is made when the batch is first asked for a record's edge. Most records are asked for none.
	index func() map[*T]bool

	mu    sync.Mutex
	edges map[string]*edge
}

func newBatch[T any](records ...*T) *batch[T] {
	return &batch[T]{records: records, index: sync.OnceValue(func() map[*T]bool {
		in := make(map[*T]bool, len(records))
		for _, r := range records {
			in[r] = true
		}
		return in
	})}
}

// has reports whether a record is of the batch.
func (b *batch[T]) has(record *T) bool {
	if len(b.records) == 1 {
		return b.records[0] == record
	}
	return b.index()[record]
}

// edge is what the records of a batch refer to by one field with the same arguments.
type edge struct {
	once  sync.Once
	value any
	err   error
}

// batches are those of one operation, as a *batch of the type of its records. The one that was found last is the first:
// records are asked for one after the other.
type batches struct {
	mu  sync.Mutex
	all []any
}

type batchesKey struct{}

func withBatches(ctx context.Context) context.Context {
	return context.WithValue(ctx, batchesKey{}, &batches{})
}

// registerBatch makes records a batch. Outside a GraphQL operation, if no edge is loaded, it does
// nothing.
func registerBatch[T any](ctx context.Context, records []*T) {
	of, ok := ctx.Value(batchesKey{}).(*batches)
	if !ok || len(records) == 0 {
		return
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.all = append(of.all, newBatch(records...))
}

// registerPage makes the nodes of a page a batch. It takes and returns what the method of a service returns.
func registerPage[T any](ctx context.Context, c *page.Connection[*T], err error) (*page.Connection[*T], error) {
	if err == nil {
		registerBatch(ctx, c.Nodes())
	}
	return c, err
}

// loadOne loads the record that parent refers to, nil if the reference is nil. read returns the records of
// ids, in any order. If nothing but the id is selected, nothing is read: a reference is a foreign key, so the record
// is there, and whoever sees the parent sees it.
func loadOne[P, C any](
	ctx context.Context, parent *P, field string, reference func(*P) *string,
	read func(context.Context, []string) ([]*C, error), idOf func(*C) string, withID func(string) *C,
) (*C, error) {
	id := reference(parent)
	if id == nil {
		return nil, nil
	}
	if selectsOnlyID(ctx) {
		return withID(*id), nil
	}

	b, err := batchOf(ctx, parent)
	if err != nil {
		return nil, err
	}

	byID, err := readOnce(b, field, func(parents []*P) (map[string]*C, error) {
		records, err := read(ctx, references(parents, reference))
		if err != nil {
			return nil, err
		}
		registerBatch(ctx, records)
		byID := make(map[string]*C, len(records))
		for _, r := range records {
			byID[idOf(r)] = r
		}
		return byID, nil
	})

	return byID[*id], err
}

// selectsOnlyID reports whether the field that is being resolved has nothing but ids and type names selected. A field
// that is skipped counts as selected.
func selectsOnlyID(ctx context.Context) bool {
	f := graphql.GetFieldContext(ctx)
	return f != nil && hasOnlyID(f.Field.Selections)
}

func hasOnlyID(set ast.SelectionSet) bool {
	for _, selected := range set {
		switch selected := selected.(type) {
		case *ast.Field:
			if selected.Name != "id" && selected.Name != "__typename" {
				return false
			}
		case *ast.InlineFragment:
			if !hasOnlyID(selected.SelectionSet) {
				return false
			}
		case *ast.FragmentSpread:
			if !hasOnlyID(selected.Definition.SelectionSet) {
				return false
			}
		}
	}
	return true
}

// loadPage loads a page of the list of parent. read returns a page of the list of each id.
func loadPage[P, C any](
	ctx context.Context, parent *P, field string, args page.Args, idOf func(*P) string,
	read func(context.Context, []string, page.Args) (map[string]*page.Connection[*C], error),
) (*page.Connection[*C], error) {
	b, err := batchOf(ctx, parent)
	if err != nil {
		return nil, err
	}
	if args.After != nil || args.Before != nil {
		// A cursor belongs to one list; the lists of the other records would refuse it.
		b = newBatch(parent)
	}
	pages, err := readOnce(b, field+args.String(), func(parents []*P) (map[string]*page.Connection[*C], error) {
		pages, err := read(ctx, ids(parents, idOf), args)
		var nodes []*C
		for _, p := range pages {
			nodes = append(nodes, p.Nodes()...)
		}
		registerBatch(ctx, nodes)
		return pages, err
	})
	return pages[idOf(parent)], err
}

// sliced returns a read of loadPage's of lists that are read whole. list names them in cursors.
func sliced[V any](
	list string, read func(context.Context, []string) (map[string][]V, error),
) func(context.Context, []string, page.Args) (map[string]*page.Connection[V], error) {
	return func(ctx context.Context, ids []string, args page.Args) (map[string]*page.Connection[V], error) {
		lists, err := read(ctx, ids)
		if err != nil {
			return nil, err
		}
		of := page.Parents{List: list, Viewer: actor.From(ctx).OrganizationID, IDs: ids}
		return page.SliceEach(of, lists, args)
	}
}

// batched returns a read of loadEach's that makes the items of all lists one batch.
func batched[V any](
	read func(context.Context, []string) (map[string][]V, error),
) func(context.Context, []string) (map[string][]*V, error) {
	return func(ctx context.Context, ids []string) (map[string][]*V, error) {
		lists, err := read(ctx, ids)
		var all []*V
		of := make(map[string][]*V, len(lists))
		for id, list := range lists {
			of[id] = pointers(list)
			all = append(all, of[id]...)
		}
		registerBatch(ctx, all)
		return of, err
	}
}

// loadEach loads what read returns for the id of parent.
func loadEach[P, V any](
	ctx context.Context, parent *P, field string, idOf func(*P) string,
	read func(context.Context, []string) (map[string]V, error),
) (V, error) {
	b, err := batchOf(ctx, parent)
	if err != nil {
		var none V
		return none, err
	}
	values, err := readOnce(b, field, func(parents []*P) (map[string]V, error) {
		return read(ctx, ids(parents, idOf))
	})
	return values[idOf(parent)], err
}

// batchOf returns the batch of a record; one that was read alone is a batch of its own.
func batchOf[T any](ctx context.Context, record *T) (*batch[T], error) {
	of, ok := ctx.Value(batchesKey{}).(*batches)
	if !ok {
		return nil, fmt.Errorf("graph: an edge of %T is loaded outside an operation", record)
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	for i, b := range of.all {
		if b, ok := b.(*batch[T]); ok && b.has(record) {
			of.all[0], of.all[i] = of.all[i], of.all[0]
			return b, nil
		}
	}
	alone := newBatch(record)
	of.all = append(of.all, alone)
	return alone, nil
}

// readOnce returns what read returns for the records of a batch. It calls read once for each edge, which the
// key tells apart.
func readOnce[T, V any](b *batch[T], key string, read func(records []*T) (V, error)) (V, error) {
	b.mu.Lock()
	e, ok := b.edges[key]
	if !ok {
		if b.edges == nil {
			b.edges = map[string]*edge{}
		}
		e = &edge{}
		b.edges[key] = e
	}
	b.mu.Unlock()
	e.once.Do(func() { e.value, e.err = read(b.records) })
	value, _ := e.value.(V)
	return value, e.err
}

// references returns the ids that records refer to, each once.
func references[P any](records []*P, reference func(*P) *string) []string {
	seen := make(map[string]bool, len(records))
	ids := make([]string, 0, len(records))
	for _, r := range records {
		if id := reference(r); id != nil && !seen[*id] {
			seen[*id] = true
			ids = append(ids, *id)
		}
	}
	return ids
}

// ids returns the ids of records, each once.
func ids[P any](records []*P, idOf func(*P) string) []string {
	return references(records, func(p *P) *string { return new(idOf(p)) })
}
