package document

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"slipway/internal/base/strictjson"
)

// converter makes the value out of yaml.v3's tree.
type converter struct {
	*reader
	// anchors are the values that aliases may stand for: those that are complete.
	anchors map[*yaml.Node]subtree
	// level is how many collections are around the value at hand, and last where the last key or entry began, which is
	// where a value stands that has no text.
	level, last int
}

// subtree is a value with what it comes to.
type subtree struct {
	node                 *strictjson.Node
	nodes, bytes, levels int
}

// value converts the value that the path leads to.
func (c *converter) value(n *yaml.Node) (t subtree, err error) {
	offset, isText, err := c.begin(n)
	if err != nil {
		return t, err
	}

	switch n.Kind {
	case yaml.AliasNode:
		return c.alias(n, offset)
	case yaml.MappingNode:
		t, err = c.collection(n, offset, strictjson.Object, c.members)
	case yaml.SequenceNode:
		t, err = c.collection(n, offset, strictjson.Array, c.items)
	case yaml.ScalarNode, yaml.DocumentNode: // of which there is none within a value
		t, err = c.scalar(n, offset, isText)
	}

	if err == nil && n.Anchor != "" {
		c.anchors[n] = t
	}
	return t, err
}

// begin returns where the text of a value begins, and whether it has the tag of strings. A value without a text begins
// at its anchor or tag, or else at the last key or entry.
func (c *converter) begin(n *yaml.Node) (offset int, isText bool, err error) {
	if n.Line == 0 { // the file has no value
		return 0, false, nil
	}
	first := c.offset(n.Line, n.Column)

	offset = first
	for p, next := c.property(offset); p != ""; p, next = c.property(offset) {
		isTag := p[0] == '!'
		if isTag && p != "!!str" && p != "!<tag:yaml.org,2002:str>" {
			return 0, false, c.fail(offset, "must have the tag !!str or none, found %s", strictjson.Quote(p))
		}
		if isTag && n.Kind != yaml.ScalarNode {
			return 0, false, c.fail(offset, "must be followed by a text, for it is the tag of strings")
		}
		isText = isText || isTag
		offset = next
	}

	switch {
	case !isEmpty(n):
		return offset, isText, nil
	case offset > first:
		return first, isText, nil
	default:
		return c.last, false, nil
	}
}

// property is an anchor or a tag, and the space and the comments up to what it belongs to.
var property = regexp.MustCompile(`^([&!]\S*)(?:\s+(?:#.*\s+)*)?`)

// property returns the anchor or the tag at an offset, "" if there is none, and the offset of what it belongs to.
func (c *converter) property(offset int) (text string, next int) {
	found := property.FindStringSubmatch(c.text[offset:])
	if found == nil {
		return "", offset
	}
	return found[1], offset + len(found[0])
}

// isEmpty reports whether a value has no text, not even quotes.
func isEmpty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Value == "" && isPlain(n) }

func isPlain(n *yaml.Node) bool { return n.Style&^yaml.TaggedStyle == 0 }

// alias converts an alias. What is within it is counted anew, and stands where the alias does.
func (c *converter) alias(n *yaml.Node, offset int) (subtree, error) {
	t, ok := c.anchors[n.Alias]
	if !ok {
		return t, c.unknownAlias(offset, n.Value)
	}
	if c.level+t.levels > MaxLevels {
		return t, c.tooDeep(offset)
	}
	if err := c.note(offset); err != nil {
		return t, err
	}
	return t, c.count(offset, t.nodes-1, t.bytes)
}

// scalar converts a value that has none within it. One with the tag of strings is a text, whatever it looks like.
func (c *converter) scalar(n *yaml.Node, offset int, isText bool) (subtree, error) {
	value := textNode(n.Value)
	if isPlain(n) && !isText {
		var flaw string
		if value, flaw = plain(n.Value); flaw != "" {
			return subtree{}, c.fail(offset, "%s", flaw)
		}
	}

	t := subtree{node: value, nodes: 1, bytes: len(value.Text)}
	if err := c.note(offset); err != nil {
		return t, err
	}
	return t, c.count(offset, 0, t.bytes)
}

// collection counts a collection, and converts what is in it by convert.
func (c *converter) collection(
	n *yaml.Node, offset int, kind strictjson.Kind, convert func(n *yaml.Node, offset int, t *subtree) error,
) (subtree, error) {
	if c.level == MaxLevels {
		return subtree{}, c.tooDeep(offset)
	}
	t := subtree{node: &strictjson.Node{Kind: kind}, nodes: 1, levels: 1}
	if err := c.note(offset); err != nil {
		return t, err
	}

	c.level++
	err := convert(n, offset, &t)
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

func (c *converter) items(n *yaml.Node, _ int, t *subtree) error {
	for i, item := range n.Content {
		if isEmpty(item) { // yaml.v3 has it right behind its dash
			c.last = c.offset(item.Line, item.Column) - 1
		}

		c.path.PushIndex(i)
		value, err := c.value(item)
		if err != nil {
			return err
		}
		c.path.Pop()
		t.add("", value)
	}
	return nil
}

func (c *converter) members(n *yaml.Node, offset int, t *subtree) error {
	column := c.position(offset).Column
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key, item := n.Content[i], n.Content[i+1]
		offset := c.offset(key.Line, key.Column)
		if err := c.checkKey(n, key, item, offset, column); err != nil {
			return err
		}
		if first, again := seen[key.Value]; again {
			return c.doubled(offset, key.Value, c.position(first))
		}
		seen[key.Value], c.last = offset, offset

		c.path.PushKey(key.Value)
		c.noteKey(offset)
		value, err := c.value(item)
		if err != nil {
			return err
		}
		c.path.Pop()

		t.node.Keys = append(t.node.Keys, key.Value)
		t.add(key.Value, value)
	}
	return nil
}

// checkKey refuses a key that is not written as one, or that readers take for different ones. The column is the one
// where the mapping begins.
func (c *converter) checkKey(mapping, key, item *yaml.Node, offset, column int) error {
	isFlow := mapping.Style&yaml.FlowStyle != 0
	isBehindMark := strings.HasSuffix(strings.TrimRight(c.text[:offset], " \t"), "?")
	if isBehindMark || !isFlow && key.Column > column { // the mark may be on a line before it
		mark := strings.LastIndexByte(c.text[:offset], '?')
		return c.fail(mark, "must not be an explicit key; write it before its colon, without the question mark")
	}

	property, _ := c.property(offset)
	if key.Kind != yaml.ScalarNode || property != "" || isEmpty(key) {
		return c.fail(offset, "must be a plain or a quoted text, for it is a key")
	}
	if !isPlain(key) {
		return nil
	}

	if key.Value == "<<" {
		// YAML 1.2 has none, readers of 1.1 differ in what goes before what, and positions would be of values elsewhere.
		return c.fail(offset, "must not be the merge key <<, which YAML 1.2 has not; "+
			"write the members out, or use an alias for a whole value")
	}
	if isFlow && isEmpty(item) && strings.Contains(key.Value, ":") {
		return c.fail(offset, "must have a space behind the colon, or be quoted")
	}
	if _, flaw := plain(key.Value); flaw != "" {
		return c.fail(offset, "%s", flaw)
	}
	return nil
}
