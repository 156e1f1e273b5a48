package inputprop

import (
	"fmt"

	"slipway/internal/strictjson"
)

// mapItems checks how the keys and titles of a map's entries are made.
func (c *checker) mapItems(p *ObjectMapProperty, level *plan) {
	c.titleOf(p.ItemTitle, level, true)
	if p.Key == nil {
		return
	}
	c.Path.PushKey("key")
	defer c.Path.Pop()
	c.patterns(p.Key.Patterns)
	for i, id := range p.Key.FromFields {
		if id != nil && *id != "" {
			c.fromField(*id, level, fmt.Sprintf("/from_fields/%d", i))
		}
	}
}

func (c *checker) fromField(id string, level *plan, at string) {
	in, ok := level.byID[id]
	if !ok {
		ids := level.sources()
		c.FailBelow(at, "unknown_input", "must be one of the item inputs %s, found %s%s", strictjson.Listing(ids), strictjson.Quote(id), c.Hint(id, ids))
		return
	}
	if !in.traits.InKeys {
		c.FailBelow(at, "from_field_type", "must be a string, number or boolean input, found %s of the type %s",
			strictjson.Quote(id), strictjson.Quote(in.property.Head().Type))
	}
}

func (c *checker) arrayItems(p *ObjectArrayProperty, level *plan) {
	c.titleOf(p.ItemTitle, level, false)
	if p.ItemDescription != nil {
		c.Path.PushKey("item_description")
		c.placeholders(*p.ItemDescription, level, false)
		c.Path.Pop()
	}
}

func (c *checker) titleOf(t *ObjectCollectionItemTitleConfig, level *plan, keyed bool) {
	if t == nil {
		return
	}
	c.Path.PushKey("item_title")
	c.Path.PushKey("template")
	c.placeholders(t.Template, level, keyed)
	c.Path.Pop()
	c.Path.Pop()
}

// placeholders checks that each names an item input with a value, or for maps the key.
func (c *checker) placeholders(text string, level *plan, keyed bool) {
	pieces, err := titlePieces(text)
	if err != nil {
		c.Fail("placeholder_syntax", "%v", err)
		return
	}
	ids := level.sources()
	if keyed {
		ids = append(ids, keyPlaceholder)
	}
	for _, p := range pieces {
		in, ok := level.byID[p.name]
		switch {
		case p.name == "" || keyed && p.name == keyPlaceholder:
		case !ok:
			c.Fail("placeholder_input", "must name one of %s within { }, found %s%s; a brace is written {{",
				strictjson.Listing(ids), strictjson.Quote(p.name), c.Hint(p.name, ids))
		case in.traits.NoValue:
			c.Fail("placeholder_input", "must name an input that has a value, found the section %s", strictjson.Quote(p.name))
		}
	}
}
