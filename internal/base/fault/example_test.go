package fault_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"slipway/internal/base/fault"
)

// An error is made where something is wrong, and shown at the edge; what is no Error is masked there.
func Example() {
	var wrong fault.Violations
	wrong.Add(fault.Pointer("name"), "max_length", "must have at most %d characters, found %d", 100, 120)
	invalid := fmt.Errorf("create: %w", fault.Invalid(fault.RequestInvalid, wrong.All("")...))
	broken := errors.New("dial tcp 192.0.2.1:5432: no route to host")

	for _, err := range []error{invalid, broken} {
		shown, _ := json.Marshal(fault.Public(err, fault.View{RequestID: "req_1", Root: "/data"}))
		fmt.Println(fault.Status(err), fault.IsFailure(err), string(shown))
	}
	// Output:
	// 400 false {"code":"slipway:Request:INVALID","message":"The input is not valid: 1 violation.","details":[{"title":"Violations","render":"list","items":["/data/name: must have at most 100 characters, found 120"]}],"metadata":{"violations":[{"pointer":"/data/name","rule":"max_length","message":"must have at most 100 characters, found 120"}]},"requestId":"req_1"}
	// 500 true {"code":"slipway:Server:INTERNAL","message":"Internal server error.","requestId":"req_1"}
}
