//go:build race

package counttest_test

// uncountable says why allocations cannot be counted, "" if they can.
const uncountable = "the race detector allocates too"
