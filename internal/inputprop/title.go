package inputprop

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"slipway/internal/strictjson"
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
			return nil, fmt.Errorf("must close every { with }, or write {{ for a brace, found %s", strictjson.Quote("{"+rest))
		}
		if name == "" {
			return nil, errors.New("must name an input within { }, found {}")
		}
		pieces = append(pieces, piece{name: name})
		text = after
	}
}

// filled returns the text with its placeholders filled, or false where one of them has no text.
func (s *showing) filled(f *form, text string, key *string) (string, bool) {
	pieces, err := titlePieces(text)
	if err != nil {
		return "", false
	}
	size := 0
	for i, p := range pieces {
		if p.name != "" {
			pieces[i].text = f.plainText(p.name)
			if p.name == keyPlaceholder && key != nil {
				pieces[i].text = *key
			}
			if pieces[i].text == "" {
				return "", false
			}
		}
		size += len(pieces[i].text)
	}
	if !s.afford(size, len(text)) {
		return "", false
	}
	return joined(pieces, size), true
}

// joined is the text of pieces that have size bytes together.
func joined(pieces []piece, size int) string {
	var b strings.Builder
	b.Grow(size)
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String()
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

func plainText(n *strictjson.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind == strictjson.String:
		return n.Text
	case n.Kind == strictjson.Bool:
		return strconv.FormatBool(n.Bool)
	case n.Kind != strictjson.Number:
		return ""
	}
	if whole, err := strictjson.ParseInt32(n.Text); err == nil {
		return strconv.Itoa(int(whole))
	}
	return n.Text
}

// keyParts are what an entry has for the inputs that make up its key, and their bytes. Those without a
// value do not count.
func (f *form) keyParts(from []string) (parts []string, size int) {
	for _, id := range from {
		if text := f.plainText(id); text != "" {
			parts = append(parts, text)
			size += len(text)
		}
	}
	return parts, size
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
