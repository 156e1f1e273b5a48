package graph

import (
	"context"
	"fmt"
	"sync"

	"slipway/internal/page"
)

// A family is the records that one statement read: the nodes of a page, or what an edge of another
// family led to. What one of them refers to is read for all of them at once, when the first of them is
// asked, so that an edge costs one statement however many records there are.
type family[T any] struct {
	members []*T

	mu    sync.Mutex
	edges map[string]*edge
}

// edge is what a family refers to by one field with the same arguments.
type edge struct {
	once  sync.Once
	value any
	err   error
}

// families are those of one operation, by their members.
type families struct{ of sync.Map }

type familiesKey struct{}

func withFamilies(ctx context.Context) context.Context {
	return context.WithValue(ctx, familiesKey{}, &families{})
}

// together makes records a family. Outside a GraphQL operation, where no edges are followed, it does
// nothing.
func together[T any](ctx context.Context, records []*T) {
	f, ok := ctx.Value(familiesKey{}).(*families)
	if !ok {
		return
	}
	made := &family[T]{members: records}
	for _, r := range records {
		f.of.Store(r, made)
	}
}

// paged makes the nodes of a page a family.
func paged[T any](ctx context.Context, c *page.Connection[*T], err error) (*page.Connection[*T], error) {
	if err == nil {
		together(ctx, c.Nodes())
	}
	return c, err
}

// familyOf gives the family of a record; one that was read alone is a family of its own.
func familyOf[T any](ctx context.Context, record *T) (*family[T], error) {
	f, ok := ctx.Value(familiesKey{}).(*families)
	if !ok {
		return nil, fmt.Errorf("graph: an edge of %T is followed outside an operation", record)
	}
	found, _ := f.of.LoadOrStore(record, &family[T]{members: []*T{record}})
	return found.(*family[T]), nil
}

// follow gives what the family refers to by an edge; read is called once.
func follow[T, V any](f *family[T], name string, read func(members []*T) (V, error)) (V, error) {
	f.mu.Lock()
	e, ok := f.edges[name]
	if !ok {
		if f.edges == nil {
			f.edges = map[string]*edge{}
		}
		e = &edge{}
		f.edges[name] = e
	}
	f.mu.Unlock()
	e.once.Do(func() { e.value, e.err = read(f.members) })
	value, _ := e.value.(V)
	return value, e.err
}

// one follows an edge to a single record, nil where the reference is. read gives the records of ids.
func one[P, C any](
	ctx context.Context, parent *P, name string, reference func(*P) *string,
	read func(context.Context, []string) ([]*C, error), idOf func(*C) string,
) (*C, error) {
	id := reference(parent)
	if id == nil {
		return nil, nil
	}
	f, err := familyOf(ctx, parent)
	if err != nil {
		return nil, err
	}
	children, err := follow(f, name, func(members []*P) (map[string]*C, error) {
		records, err := read(ctx, references(members, reference))
		if err != nil {
			return nil, err
		}
		together(ctx, records)
		byID := make(map[string]*C, len(records))
		for _, r := range records {
			byID[idOf(r)] = r
		}
		return byID, nil
	})
	return children[*id], err
}

// references gives what the members refer to, each once.
func references[P any](members []*P, reference func(*P) *string) []string {
	seen := make(map[string]bool, len(members))
	var ids []string
	for _, m := range members {
		if id := reference(m); id != nil && !seen[*id] {
			seen[*id] = true
			ids = append(ids, *id)
		}
	}
	return ids
}

// many follows an edge to a list. read gives a page of each parent's list.
func many[P, C any](
	ctx context.Context, parent *P, name string, args page.Args, idOf func(*P) string,
	read func(context.Context, []string, page.Args) (map[string]*page.Connection[*C], error),
) (*page.Connection[*C], error) {
	f, err := familyOf(ctx, parent)
	if err != nil {
		return nil, err
	}
	if args.After != nil || args.Before != nil {
		// A cursor belongs to one list: to ask for those of the others would be in vain.
		f = &family[P]{members: []*P{parent}}
	}
	lists, err := follow(f, name+args.String(), func(members []*P) (map[string]*page.Connection[*C], error) {
		id := func(p *P) *string { id := idOf(p); return &id }
		pages, err := read(ctx, references(members, id), args)
		var nodes []*C
		for _, p := range pages {
			nodes = append(nodes, p.Nodes()...)
		}
		together(ctx, nodes)
		return pages, err
	})
	return lists[idOf(parent)], err
}

// each follows an edge to what read gives for each member, by its id.
func each[P, V any](
	ctx context.Context, parent *P, name string, idOf func(*P) string,
	read func(context.Context, []string) (map[string]V, error),
) (V, error) {
	f, err := familyOf(ctx, parent)
	if err != nil {
		var none V
		return none, err
	}
	values, err := follow(f, name, func(members []*P) (map[string]V, error) {
		return read(ctx, references(members, func(p *P) *string { return new(idOf(p)) }))
	})
	return values[idOf(parent)], err
}
