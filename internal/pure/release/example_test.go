package release_test

import (
	"context"
	"encoding/json"
	"fmt"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/release"
)

// Equal content has one digest, however it was written, and what is stored is proved by it.
func Example() {
	seal := func(inputs string) release.Sealed {
		sealed, err := release.Seal(release.Unsealed{
			ModuleVersionID: "mver_1", Kind: "terraform", Inputs: strictjson.MustParse(inputs),
		})
		if err != nil {
			panic(err)
		}
		return sealed
	}
	sealed := seal(`{"size": 1.0, "name": "web"}`)
	fmt.Println(sealed.JSON)
	fmt.Println(sealed.Digest == seal(`{"name": "web", "size": 1}`).Digest)

	_, err := release.Open(sealed.Digest, `{"inputs":{"name":"changed"}}`)
	fmt.Println(err != nil)
	// Output:
	// {"artifact":null,"inputs":{"name":"web","size":1},"kind":"terraform","moduleVersionId":"mver_1"}
	// true
	// true
}

func ExampleDiff() {
	changes, err := release.Diff(context.Background(),
		json.RawMessage(`{"size": 1, "env": [{"name": "A", "value": "x"}]}`),
		json.RawMessage(`{"size": 2, "env": [{"name": "PASSWORD", "value": "y"}, {"name": "A", "value": "x"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range changes {
		fmt.Printf("%s %s %s %s masked: %t\n", c.Kind, c.Pointer, c.Before, c.After, c.Masked)
	}
	// Output:
	// ADDED /env/0/name  "PASSWORD" masked: false
	// ADDED /env/0/value   masked: true
	// CHANGED /size 1 2 masked: false
}
