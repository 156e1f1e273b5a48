package inputrules_test

import (
	"context"
	"fmt"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputrules"
)

// A schema is checked before it is saved: each member is good by itself, but not all of them together.
func Example() {
	schema, err := strictjson.Parse([]byte(`[
		{"id": "size", "label": "Size", "type": "number", "min": 3, "max": 1},
		{"id": "name", "label": "Name", "type": "string", "show_when": {"sise": 2}}
	]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	inputs, _ := inputprop.DecodeList(schema, "")
	violations, warnings, err := inputrules.NewEngine(nil).CheckList(context.Background(), inputs, "/inputs")
	for _, v := range violations {
		fmt.Println(v.Pointer, v.Rule)
	}
	fmt.Println(len(warnings), err)
	// Output:
	// /inputs/0/min min_max
	// /inputs/1/show_when/sise unknown_input
	// 0 <nil>
}
