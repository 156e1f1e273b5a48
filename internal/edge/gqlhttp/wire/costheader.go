package wire

import (
	"net/http"

	"slipway/internal/base/fault"
)

// CostHeader is the header by which a caller asks for the cost in its answers.
const CostHeader = "Slipway-Cost"

// asked is the one value of CostHeader.
const asked = "true"

// AsksForCost reports whether the headers of a request ask for the cost.
func AsksForCost(h http.Header) bool { return h.Get(CostHeader) == asked }

// CheckCostHeader returns RequestInvalid for a CostHeader of any other value.
func CheckCostHeader(h http.Header) error {
	for _, value := range h.Values(CostHeader) {
		if value != asked {
			return fault.New(
				fault.RequestInvalid, "%s must be %s, found %q; leave it out if the cost is not wanted.", CostHeader, asked,
				Shorten(value),
			)
		}
	}
	return nil
}
