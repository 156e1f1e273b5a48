package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/lib/pq"
)

const (
	// notifyChannel is what servers that share a database notify each other by.
	notifyChannel = "slipway_changes"
	// maxListenedLogs is how many logs one item of Listen names.
	maxListenedLogs = 1000
	// A connection that notifications come by is made again after minReconnect, and at last after maxReconnect.
	minReconnect = 100 * time.Millisecond
	maxReconnect = 5 * time.Second
)

// MaxNotifiedLogs is how many logs a Notification may name: PostgreSQL takes 8000 bytes.
const MaxNotifiedLogs = 200

// Notification is what a server tells the others that share its database.
type Notification struct {
	// Deployments reports whether there are changes of deployments to be read.
	Deployments bool
	// Logs are the ids of deployments whose logs have more lines.
	Logs []string
}

// deploymentsChanged is an item of a notification's text, and so is each of its logs.
const deploymentsChanged = "deployments"

func (n Notification) text() string {
	items := n.Logs
	if n.Deployments {
		items = append([]string{deploymentsChanged}, items...)
	}
	return strings.Join(items, ",")
}

// add adds what the text of another notification says. An older server sends an empty one.
func (n *Notification) add(text string) {
	for item := range strings.SplitSeq(text, ",") {
		switch {
		case item == deploymentsChanged, item == "":
			n.Deployments = true
		case len(n.Logs) < maxListenedLogs:
			n.Logs = append(n.Logs, item)
		}
	}
}

// Listen returns a channel that has an item if some server has called Notify since the last item was received. The item
// has all that was said, and also comes if notifications may have been lost. Without a pooler's way around
// (Config.DirectURL) and on SQLite none may come at all. The channel is closed when ctx ends or the store is closed.
func (s *Store) Listen(ctx context.Context) <-chan Notification {
	changed := make(chan Notification)
	go func() {
		defer close(changed)

		connected, notified := make(chan struct{}, 1), (chan *pq.Notification)(nil)
		if s.Postgres() {
			l := pq.NewDialListener(listenDialer{}, listenDSN(s.listenURL), minReconnect, maxReconnect, nil)
			defer endListener(l)
			notified = l.Notify
			go s.startListening(ctx, l, connected)
		}

		var next Notification
		var ready chan<- Notification // changed, while there is something to tell
		for {
			select {
			case n := <-notified:
				ready = changed
				if n == nil { // a connection was made again
					next.Deployments = true
				} else {
					next.add(n.Extra)
				}
			case <-connected:
				ready, next.Deployments = changed, true
			case ready <- next:
				ready, next = nil, Notification{}
			case <-ctx.Done():
				return
			case <-s.closed:
				return
			}
		}

	}()
	return changed
}

func (s *Store) startListening(ctx context.Context, l *pq.Listener, connected chan<- struct{}) {
	switch err := l.Listen(notifyChannel); {
	case err == nil:
		connected <- struct{}{}
	case !errors.Is(err, net.ErrClosed):
		s.storage.log.WarnContext(ctx,
			"the database does not notify of changes; they are looked for every second", "error", err)
	}
}

// endListener closes a listener, whose goroutine sends what has come until then.
func endListener(l *pq.Listener) {
	_ = l.Close() // it was open
	go func() {
		for range l.Notify {
		}
	}()
}

// Notify tells those who Listen, on every server. It is no part of a transaction: a NOTIFY in each of them would have
// their commits wait for one another. On SQLite, which one server has to itself, there is nobody to wake.
func (s *Store) Notify(ctx context.Context, n Notification) error {
	if !s.Postgres() {
		return nil
	}
	// That database/sql may run it again does no harm.
	if _, err := s.db.ExecContext(ctx, "SELECT pg_notify($1, $2)", notifyChannel, n.text()); err != nil {
		return fmt.Errorf("store: notify: %w", err)
	}
	return nil
}

// capacityOf finds the parameter of this program's own, which the server does not know, in the name of a data source.
var capacityOf = regexp.MustCompile(`&?\bstatement_cache_capacity\s*=\s*'?\d+'?`)

// listenDSN returns the name of a data source as lib/pq's listener takes it.
func listenDSN(dsn string) string { return capacityOf.ReplaceAllString(dsn, "") }

// listenDialer connects to the server that notifies. A connection has no deadline, since it is silent for as long as
// nothing changes; that its peer is gone is found out by the signs of life of TCP.
type listenDialer struct{}

// Dial implements pq.Dialer.
func (listenDialer) Dial(network, address string) (net.Conn, error) {
	return listenDialer{}.DialTimeout(network, address, connectTimeout)
}

// DialTimeout implements pq.Dialer.
func (listenDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}
	return d.Dial(network, address)
}
