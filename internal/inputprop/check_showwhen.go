package inputprop

import (
	"strings"
)

// conditions checks what decides whether the inputs of a level are shown, and the inputs that dynamic
// values take their parameters from. An input that stands alone has no siblings to be named.
func (c *checker) conditions(p *plan, alone bool) {
	ids := p.sources()
	for _, in := range p.inputs {
		place := in.place
		if alone {
			place = strings.TrimPrefix(place, "/0")
		}
		for _, cond := range in.conditions {
			at := place + trail{{"show_when", -1}, {cond.id, -1}}.pointer("")
			if !alone || in.owner != nil {
				c.sibling(in, cond.id, cond.source, at, ids)
			}
			c.expectation(cond.expected, at)
		}
		if !alone || in.owner != nil {
			c.params(p, in, place, ids)
		}
	}
	for _, l := range p.loops {
		place := l.input.place
		if alone {
			place = strings.TrimPrefix(place, "/0")
		}
		c.failBelow(place, "cycle", "must not depend on itself, found %s", strings.Join(l.ids, " → "))
	}
}

// sources are the ids of the inputs that have a value.
func (p *plan) sources() []string {
	var ids []string
	for _, in := range p.inputs {
		if !isSection(in.Property) {
			ids = append(ids, in.id)
		}
	}
	return ids
}

// sibling checks an id that is to name another input of the level with a value.
func (c *checker) sibling(in *planned, id string, source *planned, at string, ids []string) {
	switch {
	case id == in.id:
		c.failBelow(at, "self_reference", "must not be the input itself, found %s", quote(id))
	case source == nil:
		c.failBelow(at, "unknown_input", "must be an input of the same level, found %s%s", quote(id), c.hint(id, ids))
	case isSection(source.Property):
		c.failBelow(at, "no_value", "must be an input that has a value, found the section %s", quote(id))
	}
}

func (c *checker) params(p *plan, in *planned, place string, ids []string) {
	ref := dynamic(in.Property)
	if ref == nil {
		return
	}
	for _, name := range ref.paramNames() {
		if id := ref.Params[name].Input; id != "" {
			at := place + trail{{"values", -1}, {"params", -1}, {name, -1}, {"input", -1}}.pointer("")
			c.sibling(in, id, p.byID[id], at, ids)
		}
	}
}

// expectation checks what an entry expects: a value, or an object of operators.
func (c *checker) expectation(n *Node, at string) {
	switch n.Kind {
	case Null:
		c.noNull(at)
	case Object:
		if len(n.Keys) == 0 {
			c.failBelow(at, "operator", "must have one of the operators %s, found none", strings.Join(operators, ", "))
		}
		for i, operator := range n.Keys {
			c.operator(operator, n.Items[i], at+trail{{operator, -1}}.pointer(""))
		}
	}
}

// noNull refuses an expectation that would never hold, or always under not.
func (c *checker) noNull(at string) {
	c.failBelow(at, "operand", `must not be null, which is the same as absent; use {"exists": false}`)
}

func (c *checker) operator(operator string, operand *Node, at string) {
	switch operator {
	case opEquals:
		if operand.Kind == Null {
			c.noNull(at)
		}
	case opNot:
		c.expectation(operand, at)
	case opAnyOf:
		c.operandList(operand, at)
		for i, item := range operand.Items {
			if operand.Kind == Array && item.Kind == Null {
				c.noNull(at + trail{{index: i}}.pointer(""))
			}
		}
	case opContains:
	case opContainsAny, opContainsAll, opContainsEvery:
		c.operandList(operand, at)
	case opExists:
		if operand.Kind != Bool {
			c.failBelow(at, "operand", "must be true or false, found %s", operand.found())
		}
	default:
		c.failBelow(at, "operator", "must be one of the operators %s%s; an object to compare with stands under %s",
			strings.Join(operators, ", "), hint(operator, operators), opEquals)
	}
}

func (c *checker) operandList(operand *Node, at string) {
	if operand.Kind != Array {
		c.failBelow(at, "operand", "must be an array of values, found %s", operand.found())
	}
}
