package gqlhttp_test

import (
	"fmt"

	"slipway/internal/edge/gqlhttp"
)

func ExampleReadTrusted() {
	_, err := gqlhttp.ReadTrusted([]byte(`{"types": "{ __typename }", "kittens": "{ kittens }"}`), toySchema, gqlhttp.Config{}, 0)
	fmt.Println(err)
	// Output: document "kittens": line 1, column 3: Cannot query field "kittens" on type "Query".
}
