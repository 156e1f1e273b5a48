package plan

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
)

// Writer writes the value of a field, and what is below it, in one goroutine.
type Writer struct {
	*Execution
	observer Observer
	output
	begin int // where the value begins in the first buffer
	path  []step
	steps [8]step // what most paths are within
	// later counts the lists above of which the item is not the first one.
	later int
	place place
}

// step is a part of a path: a field or, where node is nil, an item of a list.
type step struct {
	node  *Node
	args  map[string]any
	index int
}

// writer returns a writer of which the first buffer has a size.
func (e *Execution) writer(ctx context.Context, observer Observer, size int) *Writer {
	w := &Writer{Execution: e, observer: observer, output: output{buf: make(written, 0, max(size, 64))}}
	w.path = w.steps[:0]
	w.place.Context, w.place.w, w.place.above = ctx, w, graphql.GetFieldContext(ctx)
	return w
}

// field writes the field that the path ends with.
func (w *Writer) field(n *Node, parent any) (ok bool) {
	w.each(1, func(int) { ok = n.field.Write(w, n, parent) }, func(int) {})
	return ok
}

// Object writes what is selected on an object. If a field is null that must not be, its neighbours are resolved all
// the same.
func (w *Writer) Object(n *Node, o *Object, object any) bool {
	s, begin, isNull := w.on(n, o), w.end(), false
	var ahead []part
	if s.concurrent > 1 && w.later == 0 {
		ahead = w.resolveAhead(s, object)
	}
	null := func(n *Node) {
		w.buf = append(w.buf, "null"...)
		isNull = isNull || n.field.NonNull
	}

	w.buf = append(w.buf, '{')
	top := w.push()
	w.each(len(s.nodes), func(i int) {
		n, before := s.nodes[i], w.end()
		w.buf = append(append(w.buf, n.key...), n.typename...)
		switch {
		case n.typename != nil:
		case len(ahead) > i && ahead[i].Writer != nil:
			w.append(ahead[i].output)
			if ahead[i].isNull {
				null(n)
			}
		default:
			w.at(top, step{node: n})
			if !n.field.Write(w, n, object) {
				null(n)
			}
		}

		w.bound(before, n.isHidden)
	}, func(i int) {
		n, before := s.nodes[i], w.end()
		w.buf = append(w.buf, n.key...)
		null(n)
		w.bound(before, n.isHidden)
	})

	w.pop()
	if isNull {
		w.back(begin)
		return false
	}

	w.buf = append(w.buf, '}')
	return true
}

// part is a field of an object that is written beside its neighbours.
type part struct {
	*Writer
	isNull bool
}

// resolveAhead resolves the fields of an object that may wait, side by side, each to a buffer of its own.
func (w *Writer) resolveAhead(s *selection, object any) []part {
	parts := make([]part, len(s.nodes))
	var running sync.WaitGroup
	left := s.concurrent
	for i, n := range s.nodes {
		if n.field == nil || !n.field.Concurrent {
			continue
		}
		p := &parts[i]
		p.Writer = w.writer(w.place.Context, w.observer, 0)
		p.path = append(append(p.path, w.path...), step{node: n})
		if left--; left == 0 { // the last one needs no goroutine
			p.isNull = !p.field(n, object)
			break
		}
		running.Go(func() { p.isNull = !p.field(n, object) })
	}
	running.Wait()
	return parts
}

// List writes a list whose items have their index in paths: objects, enums and lists. If an item panics, the list is
// empty, as in gqlgen's executor.
func List[T any](w *Writer, n *Node, list []T, nonNull bool, write func(*Writer, *Node, T) bool) bool {
	begin, isNull, panicked := w.end(), false, false
	w.buf = append(w.buf, '[')
	top := w.push()

	first := w.later
	w.each(len(list), func(i int) {
		before := w.end()
		w.at(top, step{index: i})
		if i > 0 {
			w.buf = append(w.buf, ',')
			w.later = first + 1
		}
		if !write(w, n, list[i]) {
			w.buf = append(w.buf, "null"...)
			isNull = isNull || nonNull
		}
		w.bound(before, false)
	}, func(int) { panicked = true })

	w.later = first
	w.pop()
	switch {
	case panicked:
		w.back(begin)
		w.buf = append(w.buf, "[]"...)
		return true
	case isNull:
		w.back(begin)
		return false
	}

	w.buf = append(w.buf, ']')
	return true
}

// Scalars writes a list of scalars, which are not told apart in paths.
func Scalars[T any](w *Writer, n *Node, list []T, nonNull bool, write func(*Writer, *Node, T) bool) bool {
	begin, isNull := w.end(), false
	w.buf = append(w.buf, '[')
	for i, item := range list {
		before := w.end()
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		if !write(w, n, item) {
			w.buf = append(w.buf, "null"...)
			isNull = isNull || nonNull
		}
		w.bound(before, false)
	}

	if isNull {
		w.back(begin)
		return false
	}

	w.buf = append(w.buf, ']')
	return true
}

// each calls write for 0 to n-1. If it panics, each reports that if the path is, takes back what was written, and
// goes on after a call of panicked.
func (w *Writer) each(n int, write, panicked func(i int)) {
	for i := 0; i < n; {
		i = w.until(i, n, write, panicked)
	}
}

// until calls write from i on, up to n or the first panic, and returns what is next.
func (w *Writer) until(i, n int, write, panicked func(i int)) (next int) {
	var before, later int
	depth := len(w.path)
	defer func() {
		if value := recover(); value != nil {
			w.back(before)
			w.cut(depth)
			w.later = later
			w.Operation.Error(&w.place, w.Operation.Recover(&w.place, value))
			panicked(i)
			next = i + 1
		}
	}()
	for ; i < n; i++ {
		before, later = w.end(), w.later
		write(i)
	}
	return n
}

// push makes the path longer, by what at sets, and returns its index.
func (w *Writer) push() (top int) {
	w.path = append(w.path, step{})
	return len(w.path) - 1
}

func (w *Writer) at(top int, s step) {
	w.path[top] = s
	w.place.forget(top)
}

func (w *Writer) pop() { w.cut(len(w.path) - 1) }

// cut makes the path shorter.
func (w *Writer) cut(depth int) {
	w.path = w.path[:depth]
	w.place.forget(depth)
}

// bound takes back a value that is hidden, and what is beyond the bytes that are kept.
func (w *Writer) bound(begin int, isHidden bool) {
	if isHidden {
		w.back(begin)
	}
	if most := w.options.MaxBytes; most > 0 {
		w.back(w.begin + most + 1)
	}
}
