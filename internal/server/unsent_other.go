//go:build !linux

package server

import "net"

// limitUnsent does nothing if the system has no such limit that is known here.
func limitUnsent(net.Conn) {}
