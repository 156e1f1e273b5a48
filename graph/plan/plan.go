// Package plan executes operations over gqlgen's bindings from a compiled form of their documents.
//
// gqlgen's own executor collects the fields of each object anew, gives each field a context and a path, and makes a
// tree of values that write themselves once all are there. Here the selection of an object type is compiled once, to a
// flat list of what to write, and kept with the operation. A Writer goes through it depth first and appends the answer
// to one buffer; if a value turns out to be null, it goes back to where that value began.
//
// What a field is, how its value is had and how that is written, is in a table that a plugin of gqlgen's writes from
// the bindings of its own generated code, so that resolvers, arguments and models are the same. What a document means
// is left to gqlgen, too: which fields a selection has (graphql.CollectFields), if an error is
// (graphql.FieldContext) and how it is shown.
package plan

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Object is an object type of the schema.
type Object struct {
	Name string
	// Satisfies are the names that fragments may have as their condition: its own, those of its interfaces and unions.
	Satisfies []string
	Fields    map[string]*Field
}

// Field is a field of an object type.
type Field struct {
	// Object is the name of the type.
	Object                        string
	NonNull, IsMethod, IsResolver bool
	// Concurrent is whether the field may wait, so that its neighbours are resolved meanwhile.
	Concurrent bool
	// Write resolves the field of an object, nil at the root, and appends its value. It returns false if the value is
	// null; by then it has reported what is wrong with that, and what it may have appended is taken back.
	Write func(w *Writer, n *Node, parent any) bool
	// Subscribe, of a field of the subscription type, starts the events, of which the function that it returns has the
	// next one: an object with the field, or nil after the last.
	Subscribe func(ctx context.Context, e *Execution, n *Node) func(context.Context) graphql.Marshaler
}

// Operation keeps the plans of an operation, one for each outcome of the conditions that variables have. It is safe for
// concurrent use.
type Operation struct {
	// conditions are the variables that @skip and @include have, each once.
	conditions []*ast.Value

	mu    sync.Mutex
	plans map[outcome]*Node
	// room is about how many bytes may still be kept.
	room int
}

// outcome has a bit for each of an operation's conditions.
type outcome uint64

const maxConditions = 64

// bytesOfSelection is what the plans of an operation may take for each field and fragment of its document, which takes
// about as much itself. Plans beyond that are compiled anew for each execution.
const bytesOfSelection = 400

// What is counted besides lists and texts: of a node its own size, and about what an operation has for each outcome and
// a node for each object type.
var (
	bytesOfNode    = int(reflect.TypeFor[Node]().Size())
	bytesOfOutcome = bytesOfNode + 48
	bytesOfType    = int(reflect.TypeFor[selection]().Size()) + 32
)

// Compile returns an operation of a document whose plans are compiled when they are first needed. The fragments of the
// document count for all of its operations together.
func Compile(doc *ast.QueryDocument, op *ast.OperationDefinition) *Operation {
	s := survey{conditions: map[string]*ast.Value{}}
	for _, f := range doc.Fragments {
		s.selections(f.SelectionSet)
	}
	s.count /= max(len(doc.Operations), 1)
	s.selections(op.SelectionSet)
	compiled := &Operation{plans: map[outcome]*Node{}, room: bytesOfSelection * (s.count + 1)}
	for _, variable := range s.conditions {
		compiled.conditions = append(compiled.conditions, variable)
	}
	return compiled
}

// survey looks at all selections of an operation.
type survey struct {
	count      int
	conditions map[string]*ast.Value
}

func (s *survey) selections(set ast.SelectionSet) {
	for _, selected := range set {
		s.count++
		switch selected := selected.(type) {
		case *ast.Field:
			s.directives(selected.Directives)
			s.selections(selected.SelectionSet)
		case *ast.InlineFragment:
			s.directives(selected.Directives)
			s.selections(selected.SelectionSet)
		case *ast.FragmentSpread:
			s.directives(selected.Directives)
		}
	}
}

func (s *survey) directives(list ast.DirectiveList) {
	for _, d := range list {
		if d.Name != "skip" && d.Name != "include" {
			continue
		}
		if condition := d.Arguments.ForName("if"); condition != nil && condition.Value.Kind == ast.Variable {
			s.conditions[condition.Value.Raw] = condition.Value
		}
	}
}

// root returns the plan of an execution with variables. It is a node without a field, of which the operation's fields
// are selected.
func (o *Operation) root(oc *graphql.OperationContext) *Node {
	made := &Node{Collected: graphql.CollectedField{Selections: oc.Operation.SelectionSet}}
	if len(o.conditions) > maxConditions {
		return made
	}

	var of outcome
	for i, variable := range o.conditions {
		if value, _ := variable.Value(oc.Variables); value == true {
			of |= 1 << i
		}
	}

	o.mu.Lock()
	defer o.mu.Unlock()

	if kept, ok := o.plans[of]; ok {
		return kept
	}

	if o.keeps(bytesOfOutcome) {
		made.isKept = true
		o.plans[of] = made
	}

	return made
}

// keeps reports whether so many bytes more may be kept, and counts them. The lock is held.
func (o *Operation) keeps(bytes int) bool {
	if bytes > o.room {
		return false
	}
	o.room -= bytes
	return true
}

// Node is a field of a document, as it is selected on one object type.
type Node struct {
	// Collected is what gqlgen makes of the field.
	Collected graphql.CollectedField

	field *Field
	// key is what is written before the value: a comma after other fields, and the name.
	key []byte
	// typename is the value of __typename.
	typename []byte
	// isHidden is whether another field has been written under the name. gqlgen resolves both.
	isHidden bool
	isKept   bool

	// below is what is selected on each object type that the field was resolved to. It is set while the operation is
	// locked.
	below atomic.Pointer[[]*selection]
	// size is how many bytes were written last, for a field of the root.
	size atomic.Int64
}

// selection is what a node selects on an object type.
type selection struct {
	on         *Object
	nodes      []*Node
	concurrent int // how many of the nodes are
}

// on returns the selection of a node on an object type, which is compiled when an object of it is first met.
func (e *Execution) on(n *Node, o *Object) *selection {
	if known := e.known(n, o); known != nil {
		return known
	}
	e.plans.mu.Lock()
	defer e.plans.mu.Unlock()

	if known := e.known(n, o); known != nil {
		return known
	}
	made := compile(e.Operation, n, o)
	if n.isKept && !e.plans.keeps(made.bytes()) {
		e.own.Store(ownKey{n, o}, made)
		return made
	}

	for _, child := range made.nodes {
		child.isKept = n.isKept
	}

	list := []*selection{made}
	if below := n.below.Load(); below != nil {
		list = append(list, *below...)
	}
	n.below.Store(&list)

	return made
}

// known returns what has been compiled of a node and an object type, nil before.
func (e *Execution) known(n *Node, o *Object) *selection {
	if below := n.below.Load(); below != nil {
		for _, s := range *below {
			if s.on == o {
				return s
			}
		}
	}
	if own, ok := e.own.Load(ownKey{n, o}); ok {
		return own.(*selection)
	}
	return nil
}

// compile makes the selection of a node on an object type.
func compile(oc *graphql.OperationContext, n *Node, o *Object) *selection {
	made := &selection{on: o}
	written := map[string]bool{}
	for _, c := range graphql.CollectFields(oc, n.Collected.Selections, o.Satisfies) {
		child := &Node{Collected: c, field: o.Fields[c.Name], isHidden: written[c.Alias]}
		if len(written) > 0 {
			child.key = append(child.key, ',')
		}
		child.key = append(AppendString(child.key, c.Alias), ':')
		written[c.Alias] = true
		switch {
		case c.Name == "__typename":
			child.typename = AppendString(nil, o.Name)
		case child.field.Concurrent:
			made.concurrent++
		}
		made.nodes = append(made.nodes, child)
	}
	return made
}

// bytes returns about how much memory a selection takes. What the nodes select counts: gqlgen makes each a list of its
// own.
func (s *selection) bytes() int {
	const pointer, selected = 8, 16
	sum := bytesOfType + pointer*cap(s.nodes)
	for _, n := range s.nodes {
		sum += bytesOfNode + cap(n.key) + cap(n.typename) + selected*cap(n.Collected.Selections)
	}
	return sum
}
