package plan

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Generated is the table that the plugin writes.
type Generated struct {
	// State is what the functions of the table are called with.
	State                         any
	Query, Mutation, Subscription *Object
	// Inputs are the decoders of input types.
	Inputs map[reflect.Type]reflect.Value
}

// Options are what an execution asks of its surroundings. Each may be left out.
type Options struct {
	// Operation returns what is kept of an operation.
	Operation func(*graphql.OperationContext) *Operation
	// Observe returns the observer of a response. It is called when there is something to resolve: for a subscription
	// after an event has come.
	Observe func(context.Context) Observer
	// MaxBytes is from how many bytes on no more is kept of the value of a root field: the answer has them, and what
	// receives it refuses it.
	MaxBytes int
}

// Observer is told what an execution resolves, where gqlgen's executor calls the middleware of fields. Its errors
// become those of the field, which is null then. The contexts have the field.
type Observer interface {
	// Begin is called before a field with a selection is resolved.
	Begin(ctx context.Context, f *graphql.FieldContext) error
	// Resolved is called with what such a field was resolved to, or a list of any kind.
	Resolved(ctx context.Context, f *graphql.FieldContext, value any) error
	// Text is called with the length of a text, or of bytes, that another field was resolved to.
	Text(ctx context.Context, length int) error
	// Discards reports whether nothing of the answer to a query will be sent. It need not be put together then.
	Discards() bool
}

// Schema executes operations by plans. It implements graphql.ExecutableSchema. An answer is in one piece: what @defer
// lets come later is in it.
type Schema struct {
	Generated
	schema  *ast.Schema
	options Options
}

// NewSchema returns a schema that is executed by a table.
func NewSchema(schema *ast.Schema, o Options, g Generated) *Schema {
	g.Query = withIntrospection(g.Query, schema)
	return &Schema{g, schema, o}
}

// Schema implements graphql.ExecutableSchema.
func (s *Schema) Schema() *ast.Schema { return s.schema }

// Complexity implements graphql.ExecutableSchema: no field has a cost of its own.
func (*Schema) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

// Execution is an operation while it is executed.
type Execution struct {
	*Schema
	Operation *graphql.OperationContext

	plans *Operation
	// own are the selections for which the operation has no room.
	own sync.Map
}

type ownKey struct {
	n *Node
	o *Object
}

// Exec implements graphql.ExecutableSchema.
func (s *Schema) Exec(ctx context.Context) graphql.ResponseHandler {
	e := &Execution{Schema: s, Operation: graphql.GetOperationContext(ctx)}
	if s.options.Operation != nil {
		e.plans = s.options.Operation(e.Operation)
	}
	if e.plans == nil {
		e.plans = Compile(e.Operation.Doc, e.Operation.Operation)
	}
	root := e.plans.root(e.Operation)
	switch e.Operation.Operation.Operation {
	case ast.Mutation:
		return e.respond(root, s.Mutation)
	case ast.Subscription:
		return e.subscribe(ctx, root, e.on(root, s.Subscription))
	default:
		return e.respond(root, s.Query)
	}
}

// respond returns the one response of a query or a mutation.
func (e *Execution) respond(root *Node, o *Object) graphql.ResponseHandler {
	responded := false
	return func(ctx context.Context) *graphql.Response {
		if responded {
			return nil
		}
		responded = true
		ctx = graphql.WithUnmarshalerMap(ctx, e.Inputs)
		return &graphql.Response{
			Data: e.data(graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: o.Name}), e.on(root, o)),
		}
	}
}

// data returns the fields of the root with their values. Those of a query are resolved side by side, those of a
// mutation one after the other.
func (e *Execution) data(ctx context.Context, s *selection) []byte {
	r := &rootFields{
		Execution: e, selection: s, observer: e.observer(ctx), values: make([]graphql.Marshaler, len(s.nodes)),
	}

	ahead := s.concurrent - 1 // the last one needs no goroutine
	for i, n := range s.nodes {
		switch {
		case n.typename != nil:
		case n.field.Concurrent && ahead > 0:
			ahead--
			r.running.Go(func() { r.resolve(ctx, i, n) })
		default:
			r.resolve(ctx, i, n)
		}
	}

	r.running.Wait()
	isDiscarded := r.observer != nil && e.Operation.Operation.Operation == ast.Query && r.observer.Discards()
	if r.isNull.Load() || isDiscarded {
		return []byte("null")
	}
	return r.text()
}

// rootFields are the fields of the root while they are resolved.
type rootFields struct {
	*Execution
	*selection
	observer Observer
	running  sync.WaitGroup
	values   []graphql.Marshaler
	// isNull is whether one is null that must not be.
	isNull atomic.Bool
}

// text returns the fields as an object. If there is one field, what stands before its value is in its first buffer.
func (r *rootFields) text() []byte {
	if len(r.values) == 1 {
		if only, ok := r.values[0].(*value); ok && only.full == nil {
			return append(only.buf, '}')
		}
	}

	length := len("{}")
	for i, n := range r.nodes {
		length += len(n.key) + len(n.typename)
		if v, ok := r.values[i].(*value); ok {
			length += v.Len()
		}
	}

	text := append(make(written, 0, length), '{')
	for i, n := range r.nodes {
		if n.isHidden {
			continue
		}
		text = append(append(text, n.key...), n.typename...)
		if r.values[i] != nil {
			r.values[i].MarshalGQL(&text)
		}
	}

	return append(text, '}')
}

// resolve resolves a field within the middleware of root fields. As in gqlgen's executor, what counts as null is the
// value of a query's field before the middleware has it, of a mutation's field after.
func (r *rootFields) resolve(ctx context.Context, i int, n *Node) {
	ctx = graphql.WithRootFieldContext(ctx, &graphql.RootFieldContext{Object: n.Collected.Name, Field: n.Collected})
	isNull := false
	r.values[i] = r.Operation.RootResolverMiddleware(ctx, func(ctx context.Context) graphql.Marshaler {
		w := r.writer(ctx, r.observer, n.room())
		if len(r.values) == 1 {
			w.buf = append(append(w.buf, '{'), n.key...)
		}
		w.begin = len(w.buf)
		w.path = append(w.path, step{node: n})
		if !w.field(n, nil) {
			isNull = n.field.Concurrent
			return graphql.Null
		}
		n.took(w.end())
		return &value{w.output, w.begin}
	})

	if !n.field.Concurrent {
		isNull = r.values[i] == graphql.Null
	}
	if isNull && n.field.NonNull {
		r.isNull.Store(true)
	}
}

// maxKeptSize is the largest size of an answer that the next one's buffer begins with.
const maxKeptSize = 64 << 10

// took keeps the size of what was written of a node.
func (n *Node) took(size int) { n.size.Store(int64(min(size, maxKeptSize))) }

// room returns the size of the buffer that a node is written to next: no two answers are quite as long.
func (n *Node) room() int {
	size := int(n.size.Load())
	if size == 0 {
		return 512
	}
	return size + size/8
}

func (e *Execution) observer(ctx context.Context) Observer {
	if e.options.Observe == nil {
		return nil
	}
	return e.options.Observe(ctx)
}
