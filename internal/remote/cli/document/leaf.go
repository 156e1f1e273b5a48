package document

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"slipway/internal/base/strictjson"
)

// leaf converts a value that has none within it. One with the tag of strings is a text, whatever it looks like.
func (c *converter) leaf(n ast.Node, isText bool) (subtree, error) {
	offset := c.start(n, c.last)
	value, err := c.scalar(n, offset, isText)
	if err != nil {
		return subtree{}, err
	}
	t := subtree{node: value, nodes: 1, bytes: len(value.Text)}
	if err := c.note(offset); err != nil {
		return t, err
	}
	return t, c.count(offset, 0, t.bytes)
}

func (c *converter) scalar(n ast.Node, offset int, isText bool) (*strictjson.Node, error) {
	switch n := n.(type) {
	case *ast.LiteralNode:
		header, end := c.extents[n.Start], c.extents[n.Value.GetToken()].end
		text, flaw := c.block(header, end)
		if flaw != "" {
			return nil, c.fail(header.start, "%s", flaw)
		}
		return textNode(text), nil
	case *ast.NullNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode, *ast.StringNode, *ast.MergeKeyNode:
	default:
		return nil, c.fail(offset, "cannot be read: a value cannot stand here")
	}
	t := n.GetToken()
	e, ok := c.extents[t]
	if !ok || e.start == e.end {
		if isText {
			return textNode(""), nil
		}
		return &strictjson.Node{}, nil
	}
	text, err := c.text(t, e)
	if err != nil || isText || t.Type == token.DoubleQuoteType || t.Type == token.SingleQuoteType {
		return textNode(text), err
	}
	value, flaw := plain(text)
	if flaw != "" {
		return nil, c.fail(offset, "%s", flaw)
	}
	return value, nil
}

// text returns the text of a scalar that is quoted or plain.
func (c *converter) text(t *token.Token, e extent) (string, error) {
	raw := c.reader.text[e.start:e.end]
	switch t.Type {
	case token.SingleQuoteType:
		return single(raw), nil
	case token.DoubleQuoteType:
		text, flaw, at := double(raw)
		if flaw != "" {
			return "", c.fail(e.start+at, "%s", flaw)
		}
		return text, nil
	}
	if flaw := plainFlaw(raw, e.inFlow); flaw != "" {
		return "", c.fail(e.start, "%s", flaw)
	}
	return fold(raw), nil
}

// tagged converts a value with a tag, which may be that of strings.
func (c *converter) tagged(n *ast.TagNode) (subtree, error) {
	offset := c.start(n, c.last)
	c.last = offset
	if tag := n.GetToken().Value; tag != "!!str" && tag != "!<tag:yaml.org,2002:str>" {
		return subtree{}, c.fail(offset, "must have no tag but !!str, found %s", strictjson.Quote(tag))
	}
	switch n.Value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode, *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		return subtree{}, c.fail(offset, "must be followed by a text, for it is the tag of strings")
	case nil:
		return c.leaf(ast.Null(nil), true)
	}
	return c.leaf(n.Value, true)
}

// anchor converts a value that has a name, which aliases may use once it is complete.
func (c *converter) anchor(n *ast.AnchorNode) (subtree, error) {
	c.last = c.start(n, c.last)
	if alias, ok := n.Value.(*ast.AliasNode); ok {
		return subtree{}, c.fail(c.start(alias, c.last), "must not be an alias behind an anchor")
	}
	t, err := c.value(n.Value)
	if err == nil {
		c.anchors[n.Name.GetToken().Value] = t
	}
	return t, err
}

// alias converts an alias. What is within it is counted anew, and stands where the alias does.
func (c *converter) alias(n *ast.AliasNode) (subtree, error) {
	offset, name := c.start(n, c.last), n.Value.GetToken().Value
	t, ok := c.anchors[name]
	if !ok {
		return t, c.fail(offset, "is the alias of an anchor &%s, which is not complete before it", strictjson.Short(name))
	}
	if c.level+t.levels > MaxLevels {
		return t, c.tooDeep(offset)
	}
	if err := c.note(offset); err != nil {
		return t, err
	}
	return t, c.count(offset, t.nodes-1, t.bytes)
}
