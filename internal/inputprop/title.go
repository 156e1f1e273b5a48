package inputprop

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// keyPlaceholder stands for the key of a map's entry.
const keyPlaceholder = "key"

// titlePieces takes a title or a description with {id} placeholders apart; {{ is a brace. Of the error
// only the text is of use.
func titlePieces(text string) ([]piece, error) {
	var pieces []piece
	for {
		before, rest, found := strings.Cut(text, "{")
		if before != "" {
			pieces = append(pieces, piece{text: before})
		}
		if !found {
			return pieces, nil
		}
		if after, literal := strings.CutPrefix(rest, "{"); literal {
			pieces = append(pieces, piece{text: "{"})
			text = after
			continue
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, fmt.Errorf("must close every { with }, or write {{ for a brace, found %s", quote("{"+rest))
		}
		if name == "" {
			return nil, errors.New("must name an input within { }, found {}")
		}
		pieces = append(pieces, piece{name: name})
		text = after
	}
}

// filled gives the text with its placeholders filled, or false where one of them has no text.
func (f *form) filled(text string, key *string) (string, bool) {
	pieces, err := titlePieces(text)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	for _, p := range pieces {
		if p.name != "" {
			p.text = f.plainText(p.name)
			if p.name == keyPlaceholder && key != nil {
				p.text = *key
			}
			if p.text == "" {
				return "", false
			}
		}
		b.WriteString(p.text)
	}
	return b.String(), true
}

// plainText is the value of an input as people write it: "" for what is not there, an object or an
// array.
func (f *form) plainText(id string) string {
	in, ok := f.plan.byID[id]
	if !ok {
		return ""
	}
	return plainText(f.fields[in.index].value)
}

func plainText(n *Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind == String:
		return n.Text
	case n.Kind == Bool:
		return strconv.FormatBool(n.Bool)
	case n.Kind != Number:
		return ""
	}
	if whole, err := parseInt32(n.Text); err == nil {
		return strconv.Itoa(int(whole))
	}
	return n.Text
}

// computedKey joins what an entry has for the inputs that make up its key. Those without a value do
// not count; nothing at all gives "".
func (f *form) computedKey(c *MapKeyConfig) string {
	var parts []string
	for _, id := range c.sources() {
		if text := f.plainText(id); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, c.SeparatorOrDefault())
}

// sources are the inputs that make up the key; none means that it is asked for.
func (c *MapKeyConfig) sources() []string {
	if c == nil {
		return nil
	}
	var ids []string
	for _, id := range c.FromFields {
		if id != nil && *id != "" {
			ids = append(ids, *id)
		}
	}
	return ids
}
