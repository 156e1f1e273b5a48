package document

import (
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"

	"github.com/vektah/gqlparser/v2/ast"
)

// bytes returns about how many bytes the arguments of a field have as JSON.
func (c Cost) bytes(arguments ast.ArgumentList) (sum int) {
	for _, argument := range arguments {
		sum += c.literal(argument.Value)
	}
	return sum
}

func (c Cost) literal(v *ast.Value) int {
	if original := c.lifted.original(v); original != nil {
		return c.literal(original)
	}
	if v.Kind == ast.Variable {
		size, known := c.sizes[v.Raw]
		if !known {
			size = sizeOf(c.variables[v.Raw])
			c.sizes[v.Raw] = size
		}
		return size
	}
	sum := len(v.Raw)
	for _, child := range v.Children {
		sum += len(child.Name) + c.literal(child.Value) + 1
	}
	return sum
}

// sizeOf returns about how many bytes a value has as JSON.
func sizeOf(v any) (sum int) {
	sum = meter.ValueBytes
	switch v := v.(type) {
	case string:
		return max(sum, len(v)+2)
	case []any:
		for _, item := range v {
			sum += sizeOf(item)
		}
	case map[string]any:
		for key, item := range v {
			sum += len(key) + sizeOf(item)
		}
	case *strictjson.Node:
		return sizeOfNode(v)
	}
	return sum
}

func sizeOfNode(n *strictjson.Node) int {
	if len(n.Items) == 0 {
		return max(meter.ValueBytes, len(n.Text)+2)
	}
	sum := meter.ValueBytes
	for _, key := range n.Keys {
		sum += len(key)
	}
	for _, item := range n.Items {
		sum += sizeOfNode(item)
	}
	return sum
}
