package plan

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
)

// place is the context of a writer. It has what gqlgen puts into a new context for each field and item, the
// graphql.FieldContext, made when somebody asks for it: errors do, and few resolvers.
//
// A FieldContext is made anew in the same memory for the next field at its depth. So neither it nor the context may be
// asked after the resolver has returned; while it runs, any goroutine may.
type place struct {
	context.Context
	w *Writer
	// above is the field that the writer's path begins below.
	above *graphql.FieldContext

	mu sync.Mutex
	// first and fields have room for a field or item of each step of the path, of which some are made. Many paths of which
	// somebody asks have one step or two.
	first  [2]fieldContext
	fields [][]fieldContext
	made   int
}

// chunk is how many of further steps get room at once.
const chunk = 8

type fieldContext struct {
	graphql.FieldContext
	index int
}

// Value implements context.Context.
func (p *place) Value(key any) any {
	if key == fieldKey {
		return p.field()
	}
	return p.Context.Value(key)
}

// forget has the steps from a depth on made again.
func (p *place) forget(depth int) { p.made = min(p.made, depth) }

// field returns what the path ends with.
func (p *place) field() *graphql.FieldContext {
	p.mu.Lock()
	defer p.mu.Unlock()

	parent := p.above
	if p.made > 0 {
		parent = &p.at(p.made - 1).FieldContext
	}

	for ; p.made < len(p.w.path); p.made++ {
		f, s := p.at(p.made), &p.w.path[p.made]
		if s.node == nil {
			f.index = s.index
			f.FieldContext = graphql.FieldContext{Parent: parent, Index: &f.index}
		} else {
			field := s.node.field
			f.FieldContext = graphql.FieldContext{
				Parent: parent, Object: field.Object, Field: s.node.Collected, Args: s.args, IsMethod: field.IsMethod,
				IsResolver: field.IsResolver,
			}
		}
		parent = &f.FieldContext
	}

	return parent
}

func (p *place) at(depth int) *fieldContext {
	if depth < len(p.first) {
		return &p.first[depth]
	}
	depth -= len(p.first)
	if depth/chunk == len(p.fields) {
		p.fields = append(p.fields, make([]fieldContext, chunk))
	}
	return &p.fields[depth/chunk][depth%chunk]
}

// fieldKey is the key of the FieldContext, which gqlgen keeps to itself: it is what GetFieldContext asks a context for.
var fieldKey = func() any {
	var asked askedFor
	graphql.GetFieldContext(&asked)
	return asked.key
}()

type askedFor struct {
	context.Context
	key any
}

// Value implements context.Context.
func (a *askedFor) Value(key any) any {
	a.key = key
	return nil
}
