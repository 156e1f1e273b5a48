// Package document reads one YAML or JSON document by its tree: the JSON value that it is, to the digit and in the
// order of its members, and where in the file each value and each key stands.
//
// What YAML readers disagree on is refused rather than guessed, in values and in keys: a plain scalar is a number if
// JSON's grammar has it, and one that another reader may take for a number or a boolean has to be quoted. A text that
// is JSON is read by encoding/json, any other by the parser of yaml.v3. That knows the place of each value but the line
// alone of an error, and takes no more than 10,000 levels.
package document

import (
	"encoding/json"
	"fmt"
	"strings"

	"slipway/internal/base/strictjson"
)

// What a document may be at most. Nodes are counted with aliases expanded.
const (
	MaxBytes  = 1 << 20
	MaxLevels = strictjson.MaxLevels
	MaxNodes  = 100_000
)

// Position is a place in a file. Line and Column count from 1, columns in characters; both are 0 for the file as a
// whole.
type Position struct{ Line, Column int }

// Error is why a file is not the document that is taken here.
type Error struct {
	File string
	Position
	Message string
}

// Error implements error.
func (e *Error) Error() string { return At(e.File, e.Position) + ": " + e.Message }

// At returns a place as compilers print it, "values.yaml:7:13".
func At(file string, p Position) string {
	if p.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Column)
}

// Document is what was read.
type Document struct {
	// File is the name that was given for it.
	File string
	// Root is the value.
	Root   *strictjson.Node
	values map[string]Position
	keys   map[string]Position
}

// JSON returns the value as JSON text; members keep their order, numbers their digits.
func (d *Document) JSON() json.RawMessage { return d.Root.JSON() }

// Position returns where the value of a JSON Pointer begins, or the nearest value around it if there is none. What
// is inside of an alias stands where the alias does.
func (d *Document) Position(pointer string) Position { return nearest(d.values, pointer) }

// KeyPosition returns where the key of a JSON Pointer begins; for what has no key it is Position.
func (d *Document) KeyPosition(pointer string) Position {
	if p, ok := d.keys[pointer]; ok {
		return p
	}
	return d.Position(pointer)
}

func nearest(places map[string]Position, pointer string) Position {
	for {
		if p, ok := places[pointer]; ok {
			return p
		}
		end := strings.LastIndexByte(pointer, '/')
		if end < 0 {
			return Position{Line: 1, Column: 1}
		}
		pointer = pointer[:end]
	}
}

// Read reads a document; file is its name in messages. The error is an *Error.
func Read(file string, text []byte) (*Document, error) {
	s, err := newSource(file, text)
	if err != nil {
		return nil, err
	}
	r := &reader{source: s, doc: &Document{File: file, values: map[string]Position{}, keys: map[string]Position{}}}
	if json.Valid([]byte(s.text)) || strings.HasSuffix(file, ".json") {
		err = r.json()
	} else {
		err = r.yaml()
	}
	if err != nil {
		return nil, err
	}
	return r.doc, nil
}

// reader reads one source into a document.
type reader struct {
	*source
	doc *Document
	// path leads to the value at hand.
	path strictjson.Path
	// nodes and bytes count what was read so far, with aliases expanded; pointers the bytes of the pointers of positions.
	nodes, bytes, pointers int
}

// What the texts of a document, with aliases expanded, and the pointers to its values may come to together, in bytes.
const (
	maxExpanded = 4 * MaxBytes
	maxPointers = 32 * MaxBytes
)

// noteKey notes where the key at the end of the path begins.
func (r *reader) noteKey(offset int) { r.doc.keys[r.path.Pointer("")] = r.position(offset) }

// note notes where the value at hand begins, and counts it.
func (r *reader) note(offset int) error {
	pointer := r.path.Pointer("")
	r.doc.values[pointer] = r.position(offset)
	if r.pointers += len(pointer); r.pointers > maxPointers {
		return r.fail(offset, "has too many values under long keys")
	}
	return r.count(offset, 1, 0)
}

// count counts nodes and their texts.
func (r *reader) count(offset, nodes, bytes int) error {
	if r.nodes += nodes; r.nodes > MaxNodes {
		return r.fail(offset, "has more than %d values, aliases expanded", MaxNodes)
	}
	if r.bytes += bytes; r.bytes > maxExpanded {
		return r.fail(offset, "has more than %d bytes, aliases expanded", maxExpanded)
	}
	return nil
}

func (r *reader) doubled(offset int, key string, first Position) error {
	return r.fail(offset, "has the key %s twice, first at line %d, column %d",
		strictjson.Quote(key), first.Line, first.Column)
}

func (r *reader) tooDeep(offset int) error {
	return r.fail(offset, "must be nested at most %d levels deep", MaxLevels)
}
