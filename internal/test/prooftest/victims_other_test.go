//go:build !linux

package prooftest_test

// victimTroubles are none: what guards are found by is Linux's.
func victimTroubles() map[string]func(*try) error { return nil }
