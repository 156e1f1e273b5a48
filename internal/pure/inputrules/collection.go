package inputrules

import (
	"fmt"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// mapItems checks how the keys and titles of a map's entries are made.
func (c *checker) mapItems(p *inputprop.ObjectMapProperty, level *inputprop.Level) {
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

func (c *checker) fromField(id string, level *inputprop.Level, at string) {
	in, ok := level.ByID[id]
	if !ok {
		ids := level.ValueIDs()
		c.FailBelow(at, "unknown_input", "must be one of the item inputs %s, found %s%s",
			strictjson.Listing(ids), strictjson.Quote(id), c.Hint(id, ids))
		return
	}
	if !in.Traits.InKeys {
		c.FailBelow(at, "from_field_type", "must be a string, number or boolean input, found %s of the type %s",
			strictjson.Quote(id), strictjson.Quote(in.Property.Head().Type))
	}
}

func (c *checker) arrayItems(p *inputprop.ObjectArrayProperty, level *inputprop.Level) {
	c.titleOf(p.ItemTitle, level, false)
	if p.ItemDescription != nil {
		c.Path.PushKey("item_description")
		c.placeholders(*p.ItemDescription, level, false)
		c.Path.Pop()
	}
}

func (c *checker) titleOf(t *inputprop.ObjectCollectionItemTitleConfig, level *inputprop.Level, keyed bool) {
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
func (c *checker) placeholders(text string, level *inputprop.Level, keyed bool) {
	pieces, err := inputprop.ParseTitle(text)
	if err != nil {
		c.Fail("placeholder_syntax", "%v", err)
		return
	}

	ids := level.ValueIDs()
	if keyed {
		ids = append(ids, inputprop.KeyPlaceholder)
	}

	for _, p := range pieces {
		in, ok := level.ByID[p.Name]
		switch {
		case p.Name == "" || keyed && p.Name == inputprop.KeyPlaceholder:
		case !ok:
			c.Fail("placeholder_input", "must name one of %s within { }, found %s%s; a brace is written {{",
				strictjson.Listing(ids), strictjson.Quote(p.Name), c.Hint(p.Name, ids))
		case in.Traits.NoValue:
			c.Fail("placeholder_input", "must name an input that has a value, found the section %s", strictjson.Quote(p.Name))
		}
	}
}
