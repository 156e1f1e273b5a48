package inputvalues

import (
	"strconv"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// Choice is an instance that a reference may choose.
type Choice struct {
	ID string
	// Pointer is the first place of the choice, as a JSON Pointer into the values.
	Pointer string
	// ReadsInput and ReadsOutput report whether a mapped input takes its value from the inputs of what is live there, and
	// from its outputs.
	ReadsInput, ReadsOutput bool
}

// Reads adds that values are read of the instance, at paths.
func (c *Choice) Reads(paths []string) {
	for _, path := range paths {
		c.ReadsInput = c.ReadsInput || strings.HasPrefix(path, inputprop.RefInput)
		c.ReadsOutput = c.ReadsOutput || strings.HasPrefix(path, inputprop.RefOutput)
	}
}

// Choices returns the instances that the references of a level name, at any depth, in the values, nil ones aside,
// and in the defaults of collections; each once. Hidden references are among them.
func Choices(list []inputprop.Property, values ...*strictjson.Node) []Choice {
	if !hasReference(list) {
		return nil
	}
	c := choices{index: map[string]int{}}
	for _, n := range values {
		c.level(list, n, "")
	}
	return c.list
}

func hasReference(list []inputprop.Property) bool {
	found := false
	inputprop.Walk(list, "", func(p inputprop.Property, _ string) {
		found = found || p.Traits().ModuleType != ""
	})
	return found
}

type choices struct {
	list  []Choice
	index map[string]int
}

func (c *choices) level(list []inputprop.Property, values *strictjson.Node, at string) {
	for _, p := range list {
		value := memberOf(values, p.Head().ID)
		nested := p.Nested()
		if nested.IsCollection() {
			c.items(nested.Inputs, at+fault.Pointer(p.Head().ID), value, p.InitialValue().Node)
		}
		isChosen := p.Traits().ModuleType != "" && value != nil && value.Kind == strictjson.String
		if isChosen && instanceID.MatchString(value.Text) {
			c.add(value.Text, at+fault.Pointer(p.Head().ID),
				reads(nested.Inputs, inputprop.RefInput), reads(nested.Inputs, inputprop.RefOutput))
		}
	}
}

func (c *choices) items(list []inputprop.Property, at string, collections ...*strictjson.Node) {
	for _, n := range collections {
		if n == nil {
			continue
		}
		for i, item := range n.Items {
			step := strconv.Itoa(i)
			if n.Kind == strictjson.Object {
				step = n.Keys[i]
			}
			c.level(list, item, at+fault.Pointer(step))
		}
	}
}

func (c *choices) add(id, pointer string, input, output bool) {
	i, known := c.index[id]
	if !known {
		i = len(c.list)
		c.index[id] = i
		c.list = append(c.list, Choice{ID: id, Pointer: pointer})
	}
	c.list[i].ReadsInput = c.list[i].ReadsInput || input
	c.list[i].ReadsOutput = c.list[i].ReadsOutput || output
}

// reads reports whether a default of the mapped inputs, at any depth, may name what the instance has at paths that
// begin so.
func reads(mapped []inputprop.Property, prefix string) bool {
	found := false
	inputprop.Walk(mapped, "", func(p inputprop.Property, _ string) {
		n := p.InitialValue().Node
		found = found || n != nil && inputprop.ContainsText(n, inputprop.RefRoot+"."+prefix)
	})
	return found
}

// InstanceIDs returns the texts within a value that have the form of an instance's id, which is how a reference is
// remembered.
func InstanceIDs(n *strictjson.Node) []string {
	if n.Kind == strictjson.String && instanceID.MatchString(n.Text) {
		return []string{n.Text}
	}
	var ids []string
	for _, item := range n.Items {
		ids = append(ids, InstanceIDs(item)...)
	}
	return ids
}
