//go:build !linux

package prooftest_test

import "errors"

// writeNothing fails: there is no way to bound what another process writes.
func (try *try) writeNothing() error { return errors.ErrUnsupported }
