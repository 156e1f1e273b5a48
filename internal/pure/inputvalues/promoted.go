package inputvalues

import (
	"context"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// Promoted returns what was given for the inputs of a level as it counts at another instance of the module, at any
// depth, and a violation at a place for each reference that has no counterpart there. It leaves out an immutable input
// if that instance has a value of it in previous, so that the value stays. The counterpart of an instance that a
// reference chooses is that in its place, "" if there is none. The error is that of the context.
func Promoted(
	ctx context.Context, list []inputprop.Property, given, previous *strictjson.Node, at string,
	counterpart func(instanceID string) string,
) (*strictjson.Node, []fault.Violation, error) {
	p := promoter{newResolver(ctx, &Env{}, at), counterpart}
	promoted := p.level(inputprop.NewLevel(list), given, previous)
	return promoted, p.Violations(), p.err
}

type promoter struct {
	*resolver
	counterpart func(instanceID string) string
}

func (p *promoter) level(level *inputprop.Level, given, previous *strictjson.Node) *strictjson.Node {
	n := &strictjson.Node{Kind: strictjson.Object}
	for i, key := range given.Keys {
		value, before, in := given.Items[i], memberOf(previous, key), level.ByID[key]
		if in != nil {
			if in.Traits.Immutable && isValue(before) {
				continue
			}
			p.Path.PushKey(key)
			value = p.value(in, value, before)
			p.Path.Pop()
		}
		n.Append(key, value)
	}
	return n
}

func (p *promoter) value(in *inputprop.LevelInput, value, before *strictjson.Node) *strictjson.Node {
	switch {
	case in.Traits.ModuleType != "" && value.Kind == strictjson.String && instanceID.MatchString(value.Text):
		chosen := p.counterpart(value.Text)
		if chosen == "" {
			p.Fail("reference", "has no counterpart: "+
				"where this is promoted to there is no instance of the name and the module of %s", value.Text)
		}
		return textNode(chosen)
	case in.Nested.IsCollection() && value.Kind == in.Nested.Collection:
		return p.items(in, value, before)
	}
	return value
}

// items promotes the items of a collection, each against the one that it is compared with when it is deployed.
func (p *promoter) items(in *inputprop.LevelInput, value, before *strictjson.Node) *strictjson.Node {
	n := &strictjson.Node{Kind: value.Kind, Keys: value.Keys}
	of := p.pairing(&field{in: in, value: value, before: before}, in.Nested.Key)
	for i, item := range value.Items {
		if value.Kind == strictjson.Object {
			p.Path.PushKey(value.Keys[i])
		} else {
			p.Path.PushIndex(i)
		}
		if item.Kind == strictjson.Object {
			item = p.level(in.Items(), item, of(i))
		}
		n.Items = append(n.Items, item)
		p.Path.Pop()
	}
	return n
}
