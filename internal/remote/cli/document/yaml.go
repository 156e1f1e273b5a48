package document

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"slipway/internal/base/strictjson"
)

// yaml reads a text that is YAML. A panic of the parser is an error of the text.
func (r *reader) yaml() (err error) {
	defer func() {
		if flaw := recover(); flaw != nil {
			err = &Error{File: r.file, Message: fmt.Sprintf("cannot be read: the parser of YAML gave up: %v", flaw)}
		}
	}()
	tokens := lexer.Tokenize(r.simplified())
	extents, err := r.place(tokens)
	if err != nil {
		return err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // doubled keys are found here
	if err != nil {
		return r.syntaxError(err, extents)
	}
	c := &converter{reader: r, extents: extents, anchors: map[string]subtree{}}
	root, err := c.file(file)
	r.doc.Root = root.node
	return err
}

// simplified returns the text for the lexer, with the same tokens: without empty lines, and with spaces for the tabs
// behind the first character of a line. The lexer goes over its text once for each of them, and takes an entry that
// follows an empty block of text and an empty line for text.
func (s *source) simplified() string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(s.text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		content := strings.TrimLeft(line, " \t")
		b.WriteString(line[:len(line)-len(content)])
		b.WriteString(strings.ReplaceAll(content, "\t", " "))
	}
	return b.String()
}

// syntaxError returns an error of the parser without the excerpt of the text that it prints.
func (r *reader) syntaxError(err error, extents map[*token.Token]extent) error {
	var flaw interface { // yaml.Error, without the package around it
		error
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &flaw) {
		return &Error{File: r.file, Message: "cannot be read: " + err.Error()}
	}
	for t := flaw.GetToken(); t != nil; t = t.Prev { // it may be one that the parser has added
		if e, ok := extents[t]; ok {
			return r.fail(e.start, "cannot be read: %s", flaw.GetMessage())
		}
	}
	return &Error{File: r.file, Message: "cannot be read: " + flaw.GetMessage()}
}

// converter makes the value out of the parser's tree.
type converter struct {
	*reader
	extents map[*token.Token]extent
	// anchors are the values that aliases may stand for.
	anchors map[string]subtree
	// level is how many collections are around the value at hand, and last where the last key or entry began, which is
	// where a value stands that has no text.
	level, last int
}

// subtree is a value with what it comes to.
type subtree struct {
	node                 *strictjson.Node
	nodes, bytes, levels int
}

// file converts the one document of a file.
func (c *converter) file(file *ast.File) (subtree, error) {
	var body ast.Node
	for _, d := range file.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			return subtree{}, c.fail(c.start(d.Body, 0), "is a second document; there may be one in a file")
		}
		body = d.Body
	}
	return c.value(body) // that of an empty document is null
}

// start returns where a node begins, and other where it has no text.
func (c *converter) start(n ast.Node, other int) int {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return c.start(n.Values[0], other)
		}
	case *ast.MappingValueNode:
		return c.start(n.Key, other)
	}
	if e, ok := c.extents[n.GetToken()]; ok && e.end > e.start {
		return e.start
	}
	return other
}

// value converts a value that stands where the path leads.
func (c *converter) value(n ast.Node) (subtree, error) {
	if n == nil {
		n = ast.Null(nil)
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		return c.anchor(n)
	case *ast.AliasNode:
		return c.alias(n)
	case *ast.TagNode:
		return c.tagged(n)
	case *ast.MappingNode:
		return c.mapping(n, n.Values)
	case *ast.MappingValueNode:
		return c.mapping(n, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		return c.sequence(n)
	default:
		return c.leaf(n, false)
	}
}

// collection counts a collection, and reads what is in it by read.
func (c *converter) collection(n ast.Node, kind strictjson.Kind, read func(t *subtree) error) (subtree, error) {
	offset := c.start(n, c.last)
	if c.level == MaxLevels {
		return subtree{}, c.tooDeep(offset)
	}
	t := subtree{node: &strictjson.Node{Kind: kind}, nodes: 1, levels: 1}
	if err := c.note(offset); err != nil {
		return t, err
	}
	c.level++
	err := read(&t)
	c.level--
	return t, err
}

// add adds an item to a collection, or a member that has a key.
func (t *subtree) add(key string, item subtree) {
	t.node.Items = append(t.node.Items, item.node)
	t.nodes += item.nodes
	t.bytes += len(key) + item.bytes
	t.levels = max(t.levels, item.levels+1)
}

func (c *converter) mapping(n ast.Node, members []*ast.MappingValueNode) (subtree, error) {
	return c.collection(n, strictjson.Object, func(t *subtree) error {
		seen := make(map[string]int, len(members))
		for _, m := range members {
			offset := c.start(m.Key, c.last)
			key, err := c.keyText(m.Key, offset)
			if err != nil {
				return err
			}
			if first, again := seen[key]; again {
				return c.doubled(offset, key, c.position(first))
			}
			seen[key], c.last = offset, offset
			c.path.PushKey(key)
			c.noteKey(offset)
			item, err := c.value(m.Value)
			if err != nil {
				return err
			}
			c.path.Pop()
			t.node.Keys = append(t.node.Keys, key)
			t.add(key, item)
		}
		return nil
	})
}

func (c *converter) sequence(n *ast.SequenceNode) (subtree, error) {
	return c.collection(n, strictjson.Array, func(t *subtree) error {
		for i, v := range n.Values {
			if i < len(n.Entries) && n.Entries[i] != nil {
				if e, ok := c.extents[n.Entries[i].Start]; ok {
					c.last = e.start
				}
			}
			c.path.PushIndex(i)
			item, err := c.value(v)
			if err != nil {
				return err
			}
			c.path.Pop()
			t.add("", item)
		}
		return nil
	})
}

// keyText returns the text of a key, as it is written or quoted.
func (c *converter) keyText(key ast.MapKeyNode, offset int) (string, error) {
	switch key.(type) {
	case *ast.MergeKeyNode:
		// YAML 1.2 has none, readers of 1.1 differ in what goes before what, and positions would be of values elsewhere.
		return "", c.fail(offset, "must not be the merge key <<, which YAML 1.2 has not; write the members out, or use an alias for a whole value")
	case *ast.StringNode, *ast.BoolNode, *ast.NullNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
	default:
		return "", c.fail(offset, "must be a plain or a quoted text, for it is a key")
	}
	e := c.extents[key.GetToken()]
	switch {
	case e.start == e.end:
		return "", c.fail(offset, "must have a key before the colon")
	case strings.Contains(c.reader.text[e.start:e.end], "\n"):
		return "", c.fail(offset, "must stand on one line, for it is a key")
	}
	return c.text(key.GetToken(), e)
}
