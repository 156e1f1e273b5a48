package gqlhttp

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/requestlog"
)

// maxRootFields is how many fields of a query's root are resolved at once, so that what one operation has in memory is
// bounded.
const maxRootFields = 4

// execution is an operation, or an event of a subscription, while it is executed.
type execution struct {
	meter  *meter.Meter
	limits meter.Limits
	cost   document.Cost
	// counted is the operation as it is counted.
	counted requestlog.Operation
	// rootFields bounds how many fields of a query's root are resolved at once, and so how much is in memory.
	rootFields chan struct{}

	// objects are those of the operation, of which an event is a part; own is what they are otherwise.
	objects *objectCosts
	own     objectCosts

	// payment is that of an event, nil of an operation, which was paid for when it began.
	payment *payment

	mu sync.Mutex
	// truncated are the paths of the lists of which there is more than the document may expect.
	truncated map[string]bool
	// committed are the payloads of the mutations that have been carried out, by the names that they
	// answer under.
	committed map[string]any
}

// newExecution returns the execution of an operation within limits, of whose cost so much is spent already.
func newExecution(c document.Cost, limits meter.Limits, spent float64) *execution {
	e := &execution{limits: limits, cost: c, rootFields: make(chan struct{}, maxRootFields)}
	e.objects = &e.own
	e.meter = meter.New(limits, spent, e)
	return e
}

// ofEvent returns the execution of an event of the operation, whose cost is counted anew.
func (e *execution) ofEvent() *execution {
	of := newExecution(e.cost, e.limits, e.cost.Total)
	of.objects, of.payment, of.counted = e.objects, &payment{}, e.counted
	return of
}

// enterRootField waits until one more field of the root may be resolved, and reports whether it may: false if the time
// of the operation is over.
func (e *execution) enterRootField(ctx context.Context) bool {
	select {
	case e.rootFields <- struct{}{}:
		return true
	default: // to wait for the context takes more than there is to do
	}
	select {
	case e.rootFields <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (e *execution) leaveRootField() { <-e.rootFields }

// executionIn returns the execution of an operation, nil of one that was refused.
func executionIn(op *graphql.OperationContext) *execution {
	e, _ := op.Stats.GetExtension(executionName).(*execution)
	return e
}

type executionKey struct{}

func withExecution(ctx context.Context, e *execution) context.Context {
	return meter.With(context.WithValue(ctx, executionKey{}, e), e.meter)
}

func executionOf(ctx context.Context) *execution {
	e, _ := ctx.Value(executionKey{}).(*execution)
	return e
}

// Key implements meter.Place: a field of the document, for all objects that it is resolved for.
func (*execution) Key(ctx context.Context) any {
	if fc := graphql.GetFieldContext(ctx); fc != nil && fc.Field.Field != nil {
		return fc.Field.Field
	}
	return nil
}

// Path implements meter.Place.
func (*execution) Path(ctx context.Context) string { return pathOf(graphql.GetFieldContext(ctx)) }

// pathOf returns the path of a field without the indexes of lists.
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

// finish replaces an answer that went over its limits or took too long by the error, and adds the extensions: which
// lists were truncated, what is deprecated of what the operation uses, and the cost.
func (e *execution) finish(ctx context.Context, kind ast.Operation, resp *graphql.Response) {
	if kind != ast.Mutation {
		e.meter.Hold(len(resp.Data))
	}

	switch {
	case kind == ast.Mutation:
	case e.isAnswerTooLarge():
		resp.Data, resp.Errors = nil, gqlerror.List{wire.Error(ctx, e.meter.Over())}
	case ctx.Err() != nil && kind == ast.Query:
		resp.Data, resp.Errors = nil, gqlerror.List{wire.Error(ctx, wire.Timeout(ctx.Err()))}
	}

	if resp.Data == nil && kind == ast.Subscription {
		resp.Data = json.RawMessage("null") // without data the stream would end
	}

	if len(e.truncated) > 0 {
		setExtension(resp, "truncated", slices.Sorted(maps.Keys(e.truncated)))
	}

	op := graphql.GetOperationContext(ctx)
	if used := deprecatedIn(op); len(used) > 0 {
		setExtension(resp, deprecatedName, used)
	}

	switch c := costOf(ctx); {
	case c == nil:
	case kind == ast.Subscription:
		e.settlePayment(ctx, c)
	default:
		c.settle(ctx, e.meter.Cost(), e.meter.Charge())
		if wire.AsksForCost(op.Headers) {
			setExtension(resp, costName, c)
		}
	}
}

func setExtension(resp *graphql.Response, name string, value any) {
	if resp.Extensions == nil {
		resp.Extensions = map[string]any{}
	}
	resp.Extensions[name] = value
}

// isAnswerTooLarge reports whether the answer is over its limit, so that nothing of it is sent but the error.
func (e *execution) isAnswerTooLarge() bool {
	over := e.meter.Over()
	return over != nil && over.Code == fault.RequestAnswerTooLarge
}

// err returns why nothing more is to be resolved: the execution is over a limit, or its time is. It is nil while there
// is no reason.
func (e *execution) err(ctx context.Context) error {
	if e.payment != nil && e.payment.refusal != nil {
		return e.payment.refusal
	}
	err := meter.Err(ctx)
	if over := e.meter.Over(); over != nil {
		if root := graphql.GetRootFieldContext(ctx); root != nil && e.isCommitted(root.Field.Alias) {
			return e.answerMissing(over, root.Field.Alias)
		}
		return over
	}
	return err
}

// objectCosts is what an object costs, by the field that was resolved to it.
type objectCosts struct {
	mu sync.Mutex
	of map[*ast.Field][]typeCost
}

// typeCost is what an object of a type in Go costs, nil if the type is not known.
type typeCost struct {
	of   reflect.Type
	cost float64
}

// countObjects counts the objects that a field was resolved to, or the items of its list, in place of those that were
// assumed.
func (e *execution) countObjects(ctx context.Context, fc *graphql.FieldContext, result any) {
	value := reflect.ValueOf(result)
	isOne := value.Kind() == reflect.Pointer && !value.IsNil() && e.cost.AnswersWithOne(fc.Field.Field)
	if isOne || strings.HasPrefix(fc.Field.Name, "__") {
		return
	}
	assumed := e.cost.Items(fc.Field.Field, parentField(fc)) * e.objectCost(fc.Field, nil)
	if extra := e.objectsCost(fc.Field, value) - assumed; extra != 0 {
		e.meter.Add(ctx, meter.Fields, extra)
	}
}

// parentField returns the field that a field is selected in, nil at the root.
func parentField(fc *graphql.FieldContext) *ast.Field {
	if fc.Parent == nil {
		return nil
	}
	return fc.Parent.Field.Field
}

// objectsCost returns what an object costs, or the items of a list with those of the lists inside.
func (e *execution) objectsCost(f graphql.CollectedField, value reflect.Value) (sum float64) {
	for value.Kind() == reflect.Interface || value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	switch {
	case !value.IsValid():
		return 0 // it is null
	case !isList(value):
		return e.objectCost(f, value.Type())
	}
	for i := range value.Len() {
		item := value.Index(i)
		sum += e.objectsCost(f, item)
		if isList(item) {
			sum += e.objectCost(f, nil) // the list inside is an item, too
		}
	}
	return sum
}

// isList reports whether a value is a list, and not the bytes of one value.
func isList(value reflect.Value) bool {
	return value.Kind() == reflect.Slice && value.Type().Elem().Kind() != reflect.Uint8
}

// objectCost returns what an object of a type in Go costs that a field was resolved to, or of no known type for nil. It
// is worked out once for each.
func (e *execution) objectCost(f graphql.CollectedField, of reflect.Type) float64 {
	e.objects.mu.Lock()
	defer e.objects.mu.Unlock()
	known := e.objects.of[f.Field]
	for _, t := range known {
		if t.of == of {
			return t.cost
		}
	}
	object := ""
	if of != nil {
		object = e.cost.Object(f.Field, of.Name())
	}
	cost := e.cost.Each(f.Field, f.Selections, object)
	if e.objects.of == nil {
		e.objects.of = map[*ast.Field][]typeCost{}
	}
	e.objects.of[f.Field] = append(known, typeCost{of, cost})
	return cost
}

// addTruncated keeps the path of a list of which there is more than the document may expect.
func (e *execution) addTruncated(fc *graphql.FieldContext, result any) {
	connection, ok := result.(interface{ Truncated() bool })
	if !ok || !connection.Truncated() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.truncated == nil {
		e.truncated = map[string]bool{}
	}
	e.truncated[pathOf(fc)] = true
}
