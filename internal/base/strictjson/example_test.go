package strictjson_test

import (
	"fmt"

	"slipway/internal/base/strictjson"
)

// A text is read once, decoded with every violation, and written as it was.
func Example() {
	n, err := strictjson.Parse([]byte(`{"size": 1.50, "name": ""}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var disk struct {
		Name string `json:"name" rules:"required,nonempty"`
		Size int32  `json:"size" rules:"required"`
	}
	for _, v := range strictjson.Decode(n, &disk, "/disk") {
		fmt.Println(v.Pointer, v.Message)
	}
	fmt.Println(string(n.JSON()))
	fmt.Println(string(strictjson.Canonical(n)))
	// Output:
	// /disk/size must be a whole number, found 1.50
	// /disk/name must have at least 1 character, found none
	// {"size":1.50,"name":""}
	// {"name":"","size":1.5}
}

func ExampleParse() {
	_, err := strictjson.Parse([]byte(`{"a": 1, "a": 2}`))
	fmt.Println(err)
	// Output:
	// duplicate key "a" (line 1, column 10)
}
