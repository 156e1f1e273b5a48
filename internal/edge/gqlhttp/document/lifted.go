package document

import (
	"errors"
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/strictjson"
)

// literalNodes are the values that a document has for types which are carried as trees.
type literalNodes struct {
	lifted lifted
	// defaults are those of variables.
	defaults map[*ast.VariableDefinition]*strictjson.Node
}

// lifted are the literals of custom scalars and of FreeInputs that were taken out of a document. If the name of a
// variable would stand, each has left its index, which is no name: the library would make a map of it, without the
// order of the members, and numbers without their digits.
type lifted []liftedLiteral

type liftedLiteral struct {
	*ast.Value
	// node is the literal if it has no variables inside.
	node *strictjson.Node
}

// lift takes the literals out of a valid document.
func (d *Documents) lift(doc *ast.QueryDocument) literalNodes {
	l := lifter{d, literalNodes{defaults: map[*ast.VariableDefinition]*strictjson.Node{}}}
	for _, op := range doc.Operations {
		for _, def := range op.VariableDefinitions {
			if def.DefaultValue != nil {
				l.defaults[def], _ = literalNode(def.DefaultValue, noVariable)
			}
		}
		l.selections(op.SelectionSet)
	}
	for _, f := range doc.Fragments {
		l.selections(f.SelectionSet)
	}
	return l.literalNodes
}

type lifter struct {
	*Documents
	literalNodes
}

func (l *lifter) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch node := selection.(type) {
		case *ast.Field:
			for _, argument := range node.Arguments {
				argument.Value = l.value(argument.Value)
			}
			l.selections(node.SelectionSet)
		case *ast.InlineFragment:
			l.selections(node.SelectionSet)
		}
	}
}

// value returns what stands in the place of a literal from now on.
func (l *lifter) value(v *ast.Value) *ast.Value {
	switch {
	case v.Kind == ast.Variable || v.Kind == ast.NullValue || v.Definition == nil:
		return v
	case v.Kind == ast.ListValue && v.ExpectedType.Elem != nil, !l.isCarried(v.Definition):
		for _, child := range v.Children {
			child.Value = l.value(child.Value)
		}
		return v
	}
	taken := liftedLiteral{Value: v}
	if len(variablesIn(v)) == 0 {
		taken.node, _ = literalNode(v, noVariable)
	}
	l.lifted = append(l.lifted, taken)
	return &ast.Value{Kind: ast.Variable, Raw: strconv.Itoa(len(l.lifted) - 1), Position: v.Position}
}

// isCarried reports whether values of a type reach their decoder as trees.
func (d *Documents) isCarried(def *ast.Definition) bool {
	_, standard := standardScalars[def.Name]
	return def.Kind == ast.Scalar && !standard || slices.Contains(d.limits.FreeInputs, def.Name)
}

// addTo adds the literals to the variables, now that those inside them have values.
func (l lifted) addTo(values map[string]any, variable func(name string) *strictjson.Node) {
	for i, literal := range l {
		if literal.node == nil {
			literal.node, _ = literalNode(literal.Value, variable)
		}
		values[strconv.Itoa(i)] = literal.node
	}
}

// original returns the literal that stood in the place of a variable, nil if it is one.
func (l lifted) original(v *ast.Value) *ast.Value {
	if v.Kind != ast.Variable || v.Raw == "" || v.Raw[0] > '9' {
		return nil
	}
	index, _ := strconv.Atoi(v.Raw)
	return l[index].Value
}

var errTooWide = errors.New("must have no number that 64 bits cannot hold; numbers of variables keep their digits")

// noVariable is for literals without variables.
func noVariable(string) *strictjson.Node { return nil }

// literalNode returns a literal as JSON, with what variable returns for those inside: nil for one that has no value,
// which is left out of an object, and null in a list. The error is what is wrong with it; there is a node all the same.
func literalNode(v *ast.Value, variable func(name string) *strictjson.Node) (n *strictjson.Node, err error) {
	switch v.Kind {
	case ast.Variable:
		return variable(v.Raw), nil
	case ast.IntValue:
		_, err = strconv.ParseInt(v.Raw, 10, 64)
		n = &strictjson.Node{Kind: strictjson.Number, Text: v.Raw}
	case ast.FloatValue:
		_, err = strconv.ParseFloat(v.Raw, 64)
		n = &strictjson.Node{Kind: strictjson.Number, Text: v.Raw}
	case ast.BooleanValue:
		return &strictjson.Node{Kind: strictjson.Bool, Bool: v.Raw == "true"}, nil
	case ast.ListValue, ast.ObjectValue:
		return literalMembers(v, variable)
	case ast.NullValue:
		return &strictjson.Node{Kind: strictjson.Null}, nil
	default:
		return &strictjson.Node{Kind: strictjson.String, Text: v.Raw}, nil
	}

	if err != nil {
		err = errTooWide
	}
	return n, err
}

func literalMembers(v *ast.Value, variable func(name string) *strictjson.Node) (n *strictjson.Node, err error) {
	n = &strictjson.Node{Kind: strictjson.Array}
	if v.Kind == ast.ObjectValue {
		n.Kind = strictjson.Object
	}

	for _, child := range v.Children {
		item, wrong := literalNode(child.Value, variable)
		if err == nil {
			err = wrong
		}

		switch {
		case item == nil && n.Kind == strictjson.Object:
			continue
		case item == nil:
			item = &strictjson.Node{Kind: strictjson.Null}
		}

		if n.Kind == strictjson.Object {
			n.Keys = append(n.Keys, child.Name)
		}
		n.Items = append(n.Items, item)
	}

	return n, err
}
