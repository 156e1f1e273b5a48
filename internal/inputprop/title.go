package inputprop

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"slipway/internal/strictjson"
)

// keyPlaceholder stands for the key of a map's entry.
const KeyPlaceholder = "key"

// titlePieces takes a title or a description with {id} placeholders apart; {{ is a brace. Of the error
// only the text is of use.
func ParseTitle(text string) ([]Piece, error) {
	var pieces []Piece
	for {
		before, rest, found := strings.Cut(text, "{")
		if before != "" {
			pieces = append(pieces, Piece{Text: before})
		}
		if !found {
			return pieces, nil
		}
		if after, literal := strings.CutPrefix(rest, "{"); literal {
			pieces = append(pieces, Piece{Text: "{"})
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
		pieces = append(pieces, Piece{Name: name})
		text = after
	}
}

// filled returns the text with its placeholders filled, or false where one of them has no text.
func (s *showing) filled(f *level, text string, key *string) (string, bool) {
	pieces, err := ParseTitle(text)
	if err != nil {
		return "", false
	}
	size := 0
	for i, p := range pieces {
		if p.Name != "" {
			pieces[i].Text = f.plainText(p.Name)
			if p.Name == KeyPlaceholder && key != nil {
				pieces[i].Text = *key
			}
			if pieces[i].Text == "" {
				return "", false
			}
		}
		size += len(pieces[i].Text)
	}
	if !s.afford(size, len(text)) {
		return "", false
	}
	return joined(pieces, size), true
}

// joined is the text of pieces that have size bytes together.
func joined(pieces []Piece, size int) string {
	var b strings.Builder
	b.Grow(size)
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// plainText is the value of an input as people write it: "" for what is not there, an object or an
// array.
func (l *level) plainText(id string) string {
	in, ok := l.inputs.ByID[id]
	if !ok {
		return ""
	}
	return plainText(l.fields[in.Index].value)
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
func (l *level) keyParts(from []string) (parts []string, size int) {
	for _, id := range from {
		if text := l.plainText(id); text != "" {
			parts = append(parts, text)
			size += len(text)
		}
	}
	return parts, size
}

// sources are the inputs that make up the key; none means that it is asked for.
func (c *MapKeyConfig) Sources() []string {
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
