package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"slipway/internal/server"
)

const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 16 << 10
)

// listeners are a server's sockets, bound but not served yet. The second is nil where it is off.
type listeners struct{ api, admin net.Listener }

// bind takes the addresses, so that one that is in use is told before anything is served.
func (s *settings) bind(ctx context.Context) (*listeners, error) {
	api, err := listen(ctx, "listen", s.listen)
	if err != nil {
		return nil, err
	}
	api = server.LimitUnsent(api)
	if s.admin == "" {
		return &listeners{api: api}, nil
	}
	admin, err := listen(ctx, "admin-listen", s.admin)
	if err != nil {
		return nil, errors.Join(err, api.Close())
	}
	return &listeners{api, admin}, nil
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

// urlOf is where a browser on this machine reaches a listener.
func urlOf(l net.Listener) string {
	at, ok := l.Addr().(*net.TCPAddr)
	if ok && at.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", at.Port)
	}
	return "http://" + l.Addr().String()
}

// serve serves until ctx ends or a listener fails. Then readiness fails, and after the wait for that to
// be noticed streams are ended and the requests in flight are let finish.
func (s *settings) serve(ctx context.Context, l *listeners, api *server.Server, health *server.Health, log *slog.Logger) error {
	errorLog := slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	apiServer := &http.Server{
		Handler:           api,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      s.streams.WriteTimeout, // each piece of an answer has it anew
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          errorLog,
	}
	adminServer := &http.Server{
		Handler: health.Handler(), ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, ErrorLog: errorLog,
	}
	var keeping sync.WaitGroup
	defer keeping.Wait()
	keep, stop := context.WithCancel(ctx)
	defer stop()
	keeping.Go(func() { api.Services.Deploy.Keep(keep, log) })
	failed := make(chan error, 2)
	go func() { failed <- apiServer.Serve(l.api) }()
	if l.admin != nil {
		log.Info("serving health", "url", urlOf(l.admin))
		go func() { failed <- adminServer.Serve(l.admin) }()
	}
	log.Info("serving", "url", urlOf(l.api))
	select {
	case err := <-failed:
		return errors.Join(err, apiServer.Close(), adminServer.Close())
	case <-ctx.Done():
	}
	health.Drain()
	log.Info("stopping: requests in flight are let finish", "wait", s.drainWait, "timeout", s.shutdownTimeout)
	<-time.After(s.drainWait)
	return errors.Join(s.finish(ctx, api, apiServer), adminServer.Close())
}

// finish tells the streams, lets the requests in flight finish, and cuts off what has not by the timeout.
func (s *settings) finish(ctx context.Context, streams *server.Server, api *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.shutdownTimeout)
	defer cancel()
	told := make(chan error, 1)
	go func() { told <- streams.Shutdown(ctx) }() // at once: open streams hold up the other's end
	err := cmp.Or(api.Shutdown(ctx), <-told)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("requests still ran after the --shutdown-timeout of %s and were cut off", s.shutdownTimeout), api.Close())
	}
	return err
}
