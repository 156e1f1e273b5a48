package gqlhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/fault"
	"slipway/internal/gqlhttp/document"
	"slipway/internal/gqlhttp/wire"
	"slipway/internal/meter"
)

// running is an operation, or an event of a subscription, that is being carried out.
type running struct {
	meter *meter.Meter
	cost  document.Cost
	// roots bounds how many fields of a query's root are resolved at once, and so how much is in memory.
	roots chan struct{}

	mu sync.Mutex
	// each is what an object costs.
	each map[kindOfItem]float64
	// truncated are the paths of the lists that a default cut.
	truncated map[string]bool
	// committed are the payloads of the mutations that have been carried out, by the names that they
	// answer under.
	committed map[string]any
}

// kindOfItem is what objects cost the same of: the field that was resolved to them and their type, empty where it is not
// known.
type kindOfItem struct {
	field  *ast.Field
	object string
}

// rootsAtOnce is how many fields of a query's root are resolved at once.
const rootsAtOnce = 4

// newRunning counts what an operation costs at most cost, of which so much is spent already, and answers with at most
// answer bytes.
func newRunning(c document.Cost, limits meter.Limits, spent float64) *running {
	r := &running{cost: c, roots: make(chan struct{}, rootsAtOnce)}
	r.meter = meter.New(limits, spent, r)
	return r
}

// Key implements meter.Place: a field of the document, for all objects that it is resolved for.
func (*running) Key(ctx context.Context) any {
	if fc := graphql.GetFieldContext(ctx); fc != nil && fc.Field.Field != nil {
		return fc.Field.Field
	}
	return nil
}

// Path implements meter.Place.
func (*running) Path(ctx context.Context) string { return pathOf(graphql.GetFieldContext(ctx)) }

// pathOf is the path of a field without the places in lists.
func pathOf(fc *graphql.FieldContext) string {
	var names []string
	for ; fc != nil; fc = fc.Parent {
		if fc.Field.Field != nil {
			names = append(names, fc.Field.Alias)
		}
	}
	slices.Reverse(names)
	return strings.Join(names, ".")
}

type runningKey struct{}

func with(ctx context.Context, r *running) context.Context {
	return meter.With(context.WithValue(ctx, runningKey{}, r), r.meter)
}

func runningOf(ctx context.Context) *running {
	r, _ := ctx.Value(runningKey{}).(*running)
	return r
}

// metering counts what an operation works on while it runs and what it answers with, and tells the cost
// in the answer. A subscription is paid for when it begins; each of its events is counted anew, and does
// not tell.
type metering struct{ limits meter.Limits }

func (metering) ExtensionName() string                   { return "Metering" }
func (metering) Validate(graphql.ExecutableSchema) error { return nil }

// The names of what an operation carries with it; its cost is told by the first.
const costName, runningName = "cost", "running"

// InterceptResponse implements graphql.ResponseInterceptor.
func (m metering) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	op := graphql.GetOperationContext(ctx)
	r, ok := op.Stats.GetExtension(runningName).(*running)
	if !ok {
		return next(ctx) // the operation was refused
	}
	kind := op.Operation.Operation
	if kind == ast.Subscription {
		r = newRunning(r.cost, m.limits, 0)
	}
	ctx = with(ctx, r)
	resp := next(ctx)
	if resp == nil {
		return nil
	}
	r.end(ctx, kind, resp)
	return resp
}

// end puts in the place of an answer what ended it, and adds what is told of its lists and its cost.
func (r *running) end(ctx context.Context, kind ast.Operation, resp *graphql.Response) {
	if kind != ast.Mutation {
		r.meter.Hold(len(resp.Data))
	}
	over := r.meter.Over()
	switch {
	case kind == ast.Mutation:
	case r.isTooLarge():
		resp.Data, resp.Errors = nil, gqlerror.List{wire.Error(ctx, over)}
	case ctx.Err() != nil && kind == ast.Query:
		resp.Data, resp.Errors = nil, gqlerror.List{wire.Error(ctx, wire.Timeout(ctx.Err()))}
	}
	if resp.Data == nil && kind == ast.Subscription {
		resp.Data = json.RawMessage("null") // without data the stream would end
	}
	tell := func(name string, value any) {
		if resp.Extensions == nil {
			resp.Extensions = map[string]any{}
		}
		resp.Extensions[name] = value
	}
	if len(r.truncated) > 0 {
		tell("truncated", slices.Sorted(maps.Keys(r.truncated)))
	}
	if s, ok := graphql.GetOperationContext(ctx).Stats.GetExtension(costName).(*costExtension); ok && kind != ast.Subscription {
		s.settle(ctx, r.meter.Cost())
		tell(costName, s)
	}
}

// isTooLarge reports whether the answer is over its limit, so that nothing of it is sent but why.
func (r *running) isTooLarge() bool {
	over := r.meter.Over()
	return over != nil && over.Code == fault.RequestAnswerTooLarge
}

// InterceptRootField implements graphql.RootFieldInterceptor.
func (metering) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	r := runningOf(ctx)
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Mutation {
		return r.mutation(ctx, next)
	}
	select {
	case r.roots <- struct{}{}:
		defer func() { <-r.roots }()
	case <-ctx.Done():
	}
	if err := meter.Err(ctx); err != nil { // before the arguments are read
		graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithField(graphql.GetRootFieldContext(ctx).Field.Alias)), err)
		return graphql.Null
	}
	// It is written at once, so that what was read for it is not kept until all others are there.
	var text bytes.Buffer
	(&budgeted{ctx: ctx, meter: r.meter, w: &text}).write(next(ctx))
	return graphql.WriterFunc(func(w io.Writer) {
		if r.isTooLarge() {
			graphql.Null.MarshalGQL(w) // nothing of it is sent
			return
		}
		_, _ = w.Write(text.Bytes())
	})
}

// mutation carries a mutation out, unless the operation is over its limits. Where its answer is what goes
// over them, it is null, and the error says that the mutation was carried out.
func (r *running) mutation(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	field := graphql.GetRootFieldContext(ctx).Field
	at := graphql.WithPathContext(ctx, graphql.NewPathWithField(field.Alias))
	if err := meter.Err(ctx); err != nil {
		graphql.AddError(at, err)
		return graphql.Null
	}
	answer := next(ctx)
	var text bytes.Buffer
	(&budgeted{ctx: ctx, meter: r.meter, w: &text}).write(answer)
	if over := r.meter.Over(); over != nil && r.has(field.Alias) {
		if !hasErrorBelow(ctx, field.Alias) {
			graphql.AddError(at, r.after(over, field.Alias))
		}
		return graphql.Null
	}
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(text.Bytes()) })
}

func hasErrorBelow(ctx context.Context, alias string) bool {
	return slices.ContainsFunc(graphql.GetErrors(ctx), func(e *gqlerror.Error) bool {
		return len(e.Path) > 0 && e.Path[0] == ast.PathName(alias)
	})
}

// after is the refusal of the answer to a mutation that was carried out.
func (r *running) after(over *fault.Error, alias string) *fault.Error {
	told := *over
	told.Message = "The mutation was carried out, and only its answer is missing. " + over.Message
	told.Metadata = maps.Clone(over.Metadata)
	told.Metadata["committed"] = true
	if ids := idsIn(r.committed[alias]); len(ids) > 0 {
		told.Metadata["ids"] = ids
	}
	return &told
}

// idsIn are the ids of the records that a payload has.
func idsIn(payload any) (ids []string) {
	v := reflect.Indirect(reflect.ValueOf(payload))
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		if record := reflect.Indirect(v.Field(i)); record.Kind() == reflect.Struct {
			if id := record.FieldByName("ID"); id.IsValid() && id.Kind() == reflect.String {
				ids = append(ids, id.String())
			}
		}
	}
	return ids
}

// budgeted writes an answer until it has as many bytes as it may have, and then nothing more. It tells the
// meter of many writes at once, for most are of a few bytes.
type budgeted struct {
	ctx   context.Context // of the writing alone
	meter *meter.Meter
	w     io.Writer
	// untold are bytes that the meter does not know of yet.
	untold int
	full   bool
}

// write writes what a marshaler writes.
func (b *budgeted) write(m graphql.Marshaler) {
	m.MarshalGQL(b)
	b.tell()
}

// Write implements io.Writer. It takes all bytes, because gqlgen does not look at errors.
func (b *budgeted) Write(p []byte) (int, error) {
	if b.count(len(p)) {
		return b.w.Write(p)
	}
	return len(p), nil
}

// WriteString implements io.StringWriter, as Write does.
func (b *budgeted) WriteString(s string) (int, error) {
	if b.count(len(s)) {
		return io.WriteString(b.w, s)
	}
	return len(s), nil
}

func (b *budgeted) count(bytes int) bool {
	const often = 16 << 10
	if b.untold += bytes; b.untold >= often {
		b.tell()
	}
	return !b.full
}

func (b *budgeted) tell() {
	b.full = b.full || !b.meter.Write(b.ctx, b.untold)
	b.untold = 0
}
