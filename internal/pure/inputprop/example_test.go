package inputprop_test

import (
	"fmt"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// A property is read with every violation named, and written back as the same JSON.
func Example() {
	for _, text := range []string{
		`{"id": "size", "label": "Size", "type": "number", "min": 1, "default": 2}`,
		`{"id": "size", "label": "", "type": "number", "min": 1.5}`,
	} {
		n, err := strictjson.Parse([]byte(text))
		if err != nil {
			fmt.Println(err)
			return
		}
		p, violations := inputprop.NewRawProperty(n).Decode("/schema")
		if len(violations) == 0 {
			fmt.Printf("%T %s\n", p, inputprop.Encode(p))
		}
		for _, v := range violations {
			fmt.Println(v.Pointer, v.Rule)
		}
	}
	// Output:
	// *inputprop.NumberProperty {"id":"size","label":"Size","type":"number","default":2,"min":1}
	// /schema/label min_length
	// /schema/min int32
}
