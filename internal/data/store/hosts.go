package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/lib/pq"

	"slipway/internal/data/store/pgconn"
)

// hosts is a connector to the first of several PostgreSQL servers that is what the URL asks for, beginning with
// the one that was so last.
type hosts struct {
	// each has one server, and names have them for errors, in the order of the URL.
	each  []*pq.Connector
	names []string
	last  atomic.Int64
	cache pgconn.Cache
	// sent are the settings of each session, and fitness hears whether they are in force.
	sent    []pgconn.Setting
	fitness *fitness
}

// newHosts returns a connector to the servers of a configuration. If the URL asks for an order of its
// own, at random or standbys first, that is lib/pq's to keep.
func newHosts(c pq.Config, cache pgconn.Cache, f *fitness) (*hosts, error) {
	servers := append([]pq.ConfigMultihost{{Host: c.Host, Hostaddr: c.Hostaddr, Port: c.Port}}, c.Multi...)
	if c.LoadBalanceHosts == pq.LoadBalanceHostsRandom || c.TargetSessionAttrs == pq.TargetSessionAttrsPreferStandby {
		servers = servers[:1]
	} else {
		c.Multi = nil
	}
	h := &hosts{cache: cache, sent: pgconn.Sent(c), fitness: f}
	for _, s := range servers {
		c.Host, c.Hostaddr, c.Port = s.Host, s.Hostaddr, s.Port
		connector, err := pq.NewConnectorConfig(c)
		if err != nil {
			return nil, err
		}
		connector.Dialer(pgconn.Dialer{Timeout: wireTimeout})
		h.each, h.names = append(h.each, connector), append(h.names, fmt.Sprintf("%s:%d", c.Host, c.Port))
	}
	return h, nil
}

// Connect implements driver.Connector. Its error is an unreachableError.
func (h *hosts) Connect(ctx context.Context) (driver.Conn, error) {
	var failed unreachableError
	last := int(h.last.Load())
	for i := range h.each {
		at := (last + i) % len(h.each)
		conn, err := pgconn.Connect(ctx, h.each[at], h.cache, h.sent)
		h.fitness.record(err)
		if err == nil {
			h.last.Store(int64(at))
			return conn, nil
		}
		if len(h.each) > 1 {
			err = fmt.Errorf("%s: %w", h.names[at], err)
		}
		failed.hosts = append(failed.hosts, err)
	}
	return nil, &failed
}

// Driver implements driver.Connector.
func (h *hosts) Driver() driver.Driver { return h.each[0].Driver() }

// unreachableError is returned if none of the servers could be connected to. lib/pq has no type for a server
// that is not what target_session_attrs asks for, only a text.
type unreachableError struct{ hosts []error }

func (e *unreachableError) Error() string { return errors.Join(e.hosts...).Error() }

// Unwrap returns the errors of the servers, as errors.Is and errors.As look for it.
func (e *unreachableError) Unwrap() []error { return e.hosts }

// isRetryable reports whether one of the servers may let connect to it the next time: all but those that have
// refused for good, lack the settings of the session, or do not answer at all.
func (e *unreachableError) isRetryable() bool {
	return slices.ContainsFunc(e.hosts, func(err error) bool {
		if pq.As(err) != nil {
			return isRetryable(err)
		}
		if _, ok := errors.AsType[*SettingsError](err); ok {
			return false
		}
		return !isWireTimeout(err)
	})
}
