//go:build !race

package counttest_test

import "testing"

// uncountable says why allocations cannot be counted, "" if they can.
var uncountable = map[bool]string{true: "what measures coverage keeps functions from being inlined"}[testing.CoverMode() != ""]
