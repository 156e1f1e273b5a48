package inputvalues_test

import (
	"context"
	"fmt"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
)

// Values are resolved by a schema, with defaults and templates, and validated.
func Example() {
	schema, err := strictjson.Parse([]byte(`[
		{"id": "name", "label": "Name", "type": "string", "default": "${{ project.slug }}-web"},
		{"id": "count", "label": "Count", "type": "number", "max": 3}
	]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	inputs, _ := inputprop.DecodeList(schema, "")
	values := strictjson.MustParse(`{"count": 4}`)
	env := inputvalues.Env{Project: inputvalues.Scope{Slug: "shop"}}

	engine := inputvalues.NewEngine(nil)
	resolved, _, err := engine.Resolve(context.Background(), inputs, values, "", env)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", resolved.Values.JSON())
	violations, err := engine.Validate(context.Background(), inputs, values, "/inputs", env)
	for _, v := range violations {
		fmt.Println(v.Pointer, v.Message)
	}
	fmt.Println(err)
	// Output:
	// {"name":"shop-web","count":4}
	// /inputs/count must be at most 3, found 4
	// <nil>
}
