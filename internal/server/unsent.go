package server

import "net"

// LimitUnsent returns a listener whose connections leave little of an answer with the system while it cannot
// be sent. Without that a reader who stalls costs megabytes that the process does not see, and one who is
// slow looks as if he had stalled: a full buffer takes nothing more until a third of it has left.
func LimitUnsent(l net.Listener) net.Listener { return unsentListener{l} }

type unsentListener struct{ net.Listener }

// Accept implements net.Listener.
func (l unsentListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		limitUnsent(conn)
	}
	return conn, err
}
