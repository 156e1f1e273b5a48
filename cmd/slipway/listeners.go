package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"slipway/internal/data/store"
	"slipway/internal/edge/httpx"
	"slipway/internal/server"
)

const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 16 << 10
	// adminWriteTimeout bounds an answer of health and metrics. A profile may take longer.
	adminWriteTimeout = 10 * time.Second
	// maxAside is how many connections health and metrics may have, and profiles.
	maxAside = 64
	// maxUnread is how much of the bodies on a connection of HTTP/2 may wait, in bytes, to be read by handlers.
	maxUnread = 128 << 10
)

// listeners are a server's sockets, bound but not served yet. Those that are off are nil.
type listeners struct{ api, admin, debug net.Listener }

// bind takes the addresses, so that it is known before anything is served when one is in use.
func (s *settings) bind(ctx context.Context) (*listeners, error) {
	var l listeners
	for _, b := range []struct {
		to            *net.Listener
		flag, address string
	}{{&l.api, "listen", s.listen}, {&l.admin, "admin-listen", s.admin}, {&l.debug, "debug-listen", s.debug}} {
		if b.address == "" {
			continue
		}
		bound, err := listen(ctx, b.flag, b.address)
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		*b.to = bound
	}
	l.api = server.LimitUnsent(l.api)
	return &l, nil
}

// close frees the addresses that nothing is served on yet.
func (l *listeners) close() (err error) {
	for _, bound := range []net.Listener{l.api, l.admin, l.debug} {
		if bound != nil {
			err = errors.Join(err, bound.Close())
		}
	}
	return err
}

func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", address)
	if err == nil {
		return l, nil
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return nil, fmt.Errorf("cannot listen on %s, which --%s names: %w", address, flag, err)
}

// onLoopback reports whether only this machine reaches a listener, which may be nil.
func onLoopback(l net.Listener) bool {
	if l == nil {
		return false
	}
	at, ok := l.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// urlOfAPI returns the URL at which a browser on this machine reaches the API.
func (s *settings) urlOfAPI(l *listeners) string {
	if s.pair != nil {
		return urlOf("https", l.api)
	}
	return urlOf("http", l.api)
}

// urlOf returns the URL at which a browser on this machine reaches a listener.
func urlOf(scheme string, l net.Listener) string {
	at, ok := l.Addr().(*net.TCPAddr)
	if ok && at.IP.IsUnspecified() {
		return fmt.Sprintf("%s://localhost:%d", scheme, at.Port)
	}
	return scheme + "://" + l.Addr().String()
}

// server returns the http.Server of the API, which serves TLS if it has a TLSConfig.
func (s *settings) server(api http.Handler, errorLog *log.Logger) *http.Server {
	server := &http.Server{
		Handler:           api,
		ConnContext:       httpx.ConnContext,
		ConnState:         httpx.ConnState,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      s.streams.WriteTimeout, // each piece of an answer has it anew
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          errorLog,
	}

	if s.pair != nil {
		server.TLSConfig = s.pair.config()
		server.HTTP2 = &http.HTTP2Config{
			MaxReceiveBufferPerConnection: maxUnread,
			MaxReceiveBufferPerStream:     maxUnread,
			WriteByteTimeout:              s.streams.WriteTimeout, // no stream of a connection that takes nothing can be reset
		}
		server.ErrorLog = log.New(handshakeErrors{errorLog.Writer(), s.pair.log}, "", 0)
	}

	return server
}

// aside returns the http.Server of what is not the API.
func aside(h http.Handler, errorLog *log.Logger) *http.Server {
	return &http.Server{
		Handler: h, ConnState: httpx.NewCrowd(maxAside).ConnState,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, ErrorLog: errorLog,
	}
}

// serve serves until ctx ends or a listener fails. Then readiness fails. After the time that balancers need to notice
// it, streams are ended, and the requests in flight may finish.
func (s *settings) serve(
	ctx context.Context, l *listeners, api *server.Server, st *store.Store, log *slog.Logger,
) error {
	offset := server.Offset{Database: st.Clock, Now: store.Now}
	health := &server.Health{
		Ping: st.Ping, Fit: st.CheckFit, WritesFail: st.WritesFail, Offset: offset.Measure, Metrics: api.Metrics.Handler(),
		LoopbackOnly: onLoopback(l.admin),
	}
	measureProgram(api.Metrics, s.pair)

	errorLog := slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	apiServer, adminServer := s.server(api, errorLog), aside(health.Handler(), errorLog)
	adminServer.WriteTimeout = adminWriteTimeout
	debugServer := aside(server.Profiles(onLoopback(l.debug)), errorLog)

	var keeping sync.WaitGroup
	defer keeping.Wait()
	keep, stop := context.WithCancel(ctx)
	defer stop()
	keeping.Go(func() { api.Services.RunHousekeeping(keep, log) })
	keeping.Go(func() { offset.Watch(keep, log) })

	if l.admin != nil {
		keeping.Go(func() { api.Metrics.WatchDatabase(keep, api.Asking(offset.Measure)) })
	}
	if s.pair != nil {
		keeping.Go(func() { s.pair.watch(keep) })
	}

	// Requests use tokens, and runners ask for work, until the last of them has finished.
	recording, stopRecording := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRecording()
	keeping.Go(func() { api.Services.Accounts.RunUses(recording) })
	keeping.Go(func() { api.Services.Deploy.Runners.Run(recording) })

	failed := make(chan error, 3)
	begin := func(what string, by *http.Server, on net.Listener) {
		if on != nil {
			log.Info(what, "url", urlOf("http", on))
			go func() { failed <- by.Serve(on) }()
		}
	}

	begin("serving health", adminServer, l.admin)
	begin("serving profiles", debugServer, l.debug)
	log.Info("serving", "url", s.urlOfAPI(l))
	counted := httpx.NewConnections(s.maxAnonymous, s.trustedProxies).Listener(l.api)
	go func() { failed <- s.serveAPI(apiServer, counted) }()

	select {
	case err := <-failed:
		return errors.Join(err, apiServer.Close(), adminServer.Close(), debugServer.Close())
	case <-ctx.Done():
	}

	health.Drain()
	log.Info("stopping: waiting for requests in flight", "wait", s.drainWait, "timeout", s.shutdownTimeout)
	<-time.After(s.drainWait)
	return errors.Join(s.finish(ctx, api, apiServer), adminServer.Close(), debugServer.Close(), s.traces.Close(ctx))
}

// serveAPI serves the API on its listener, over TLS if there is a pair.
func (s *settings) serveAPI(by *http.Server, on net.Listener) error {
	if s.pair != nil {
		return by.ServeTLS(on, "", "")
	}
	return by.Serve(on)
}

// finish ends the streams, waits for the requests in flight, and cuts off those that have not finished by the timeout.
func (s *settings) finish(ctx context.Context, streams *server.Server, api *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.shutdownTimeout)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- streams.Shutdown(ctx) }() // at once, because the other waits for open streams
	err := cmp.Or(api.Shutdown(ctx), <-ended)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("requests still ran after the --shutdown-timeout of %s and were cut off", s.shutdownTimeout)
		return errors.Join(err, api.Close())
	}
	return err
}
