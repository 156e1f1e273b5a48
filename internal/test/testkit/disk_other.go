//go:build !linux

package testkit

import "testing"

// mountSmall reports false: there is no such file system.
func mountSmall(testing.TB, string, int) bool { return false }
