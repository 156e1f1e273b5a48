package testkit

import (
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
)

// Proxy stands between clients and a server, byte by byte, so that a test can let the network between them
// fail.
type Proxy struct {
	listener net.Listener
	accept   Accept
	network  string
	address  string

	mu    sync.Mutex
	conns []net.Conn
}

// Accept is called with each connection of a client. It returns what passes on the bytes of the client and
// those of the server, or nil for both to end the connection at once.
type Accept func(client net.Conn) (toServer, toClient Pass)

// Pass writes bytes to the other side, all, some or none of them. The connection ends if it reports false.
type Pass func(to net.Conn, b []byte) bool

// PassAll is the Pass that changes nothing.
func PassAll(to net.Conn, b []byte) bool {
	_, err := to.Write(b)
	return err == nil
}

// AcceptAll is the Accept that changes nothing.
func AcceptAll(net.Conn) (toServer, toClient Pass) { return PassAll, PassAll }

// NewProxy starts a proxy to the PostgreSQL server of a URL, and returns it with the URL that leads through
// it. It ends with the test.
func NewProxy(t testing.TB, databaseURL string, accept Accept) (p *Proxy, through string) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	p = &Proxy{accept: accept, network: "tcp", address: u.Host}

	// The host may also be the folder of a socket, in a parameter (see the connection strings of libpq).
	query := u.Query()
	if folder := query.Get("host"); folder != "" {
		port := query.Get("port")
		if port == "" {
			port = u.Port()
		}
		p.network, p.address = "unix", filepath.Join(folder, ".s.PGSQL."+port)
	}

	query.Del("host")
	query.Del("port")
	p.listener = listen(t)
	u.Host, u.RawQuery = p.listener.Addr().String(), query.Encode()
	go p.serve()
	t.Cleanup(p.Close)

	return p, u.String()
}

// Cut ends every connection. Clients can connect again.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// Close ends every connection for good.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.Cut()
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		toServer, toClient := p.accept(client)
		if toServer == nil {
			_ = client.Close()
			continue
		}

		server, err := net.Dial(p.network, p.address)
		if err != nil {
			_ = client.Close()
			continue
		}

		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		go pass(server, client, toServer)
		go pass(client, server, toClient)
	}
}

// pass copies until either side ends; then both end.
func pass(to, from net.Conn, through Pass) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !through(to, buffer[:n]) {
			return
		}
	}
}

// ClosedAddress returns an address of this machine at which nobody listens. As long as the test lives a connection has
// its port, so that no other process is given it.
func ClosedAddress(t testing.TB) string {
	t.Helper()
	listener := listen(t)
	t.Cleanup(func() { _ = listener.Close() })
	c, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.LocalAddr().String()
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}
