package inputrules

import (
	"strconv"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// conditions checks what decides whether the inputs of a level are shown, and the inputs that dynamic
// values take their parameters from. An input that stands alone has no siblings to be named.
func (c *checker) conditions(p *inputprop.Level, alone bool) {
	ids := p.ValueIDs()
	for _, in := range p.Inputs {
		path := in.Pointer
		if alone {
			path = strings.TrimPrefix(path, "/0")
		}
		for _, cond := range in.Conditions {
			at := path + fault.Pointer("show_when", cond.ID)
			if !alone || in.Owner != nil {
				c.sibling(in, cond.ID, cond.Source, at, ids)
			}
			c.expectation(cond.Expected, at)
		}
		if !alone || in.Owner != nil {
			c.params(p, in, path, ids)
		}
	}

	for _, l := range p.Loops {
		path := l.Input.Pointer
		if alone {
			path = strings.TrimPrefix(path, "/0")
		}
		c.FailBelow(path, "cycle", "must not depend on itself, found %s", strings.Join(l.IDs, " → "))
	}
}

// sibling checks an id that is to name another input of the level with a value.
func (c *checker) sibling(in *inputprop.LevelInput, id string, source *inputprop.LevelInput, at string, ids []string) {
	switch {
	case id == in.ID:
		c.FailBelow(at, "self_reference", "must not be the input itself, found %s", strictjson.Quote(id))
	case source == nil:
		c.FailBelow(at, "unknown_input",
			"must be an input of the same level, found %s%s", strictjson.Quote(id), c.Hint(id, ids))
	case source.Traits.NoValue:
		c.FailBelow(at, "no_value", "must be an input that has a value, found the section %s", strictjson.Quote(id))
	}
}

func (c *checker) params(p *inputprop.Level, in *inputprop.LevelInput, path string, ids []string) {
	ref := inputprop.DynamicRef(in.Property)
	if ref == nil {
		return
	}
	for i, param := range ref.Params.Values {
		if id := param.Input; id != "" {
			at := path + fault.Pointer("values", "params", ref.Params.Keys[i], "input")
			c.sibling(in, id, p.ByID[id], at, ids)
		}
	}
}

// expectation checks what an entry expects: a value, or an object of operators.
func (c *checker) expectation(n *strictjson.Node, at string) {
	switch n.Kind {
	case strictjson.Null:
		c.noNull(at)
	case strictjson.Object:
		if len(n.Keys) == 0 {
			c.FailBelow(at, "operator", "must have one of the operators %s, found none", strings.Join(inputprop.Operators, ", "))
		}
		for i, operator := range n.Keys {
			c.operator(operator, n.Items[i], at+fault.Pointer(operator))
		}
	}
}

// noNull refuses an expectation that would never hold, or always under not.
func (c *checker) noNull(at string) {
	c.FailBelow(at, "operand", `must not be null, which is the same as absent; use {"exists": false}`)
}

func (c *checker) operator(operator string, operand *strictjson.Node, at string) {
	switch operator {
	case inputprop.OpEquals:
		if operand.Kind == strictjson.Null {
			c.noNull(at)
		}
	case inputprop.OpNot:
		c.expectation(operand, at)
	case inputprop.OpAnyOf:
		c.operandList(operand, at)
		for i, item := range operand.Items {
			if operand.Kind == strictjson.Array && item.Kind == strictjson.Null {
				c.noNull(at + "/" + strconv.Itoa(i))
			}
		}
	case inputprop.OpContains:
	case inputprop.OpContainsAny, inputprop.OpContainsAll, inputprop.OpContainsEvery:
		c.operandList(operand, at)
	case inputprop.OpExists:
		if operand.Kind != strictjson.Bool {
			c.FailBelow(at, "operand", "must be true or false, found %s", strictjson.Show(operand))
		}
	default:
		c.FailBelow(at, "operator", "must be one of the operators %s%s; an object to compare with stands under %s",
			strings.Join(inputprop.Operators, ", "), strictjson.Hint(operator, inputprop.Operators), inputprop.OpEquals)
	}
}

func (c *checker) operandList(operand *strictjson.Node, at string) {
	if operand.Kind != strictjson.Array {
		c.FailBelow(at, "operand", "must be an array of values, found %s", strictjson.Show(operand))
	}
}
