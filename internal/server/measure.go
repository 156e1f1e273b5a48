package server

import (
	"context"
	"strconv"
	"time"

	"slipway/ent"
	"slipway/ent/deploymentchange"
	"slipway/internal/data/store"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/metrics"
	"slipway/internal/service/deployment/execution"
)

// measure has metrics show what the services and the streams of a server do.
func measure(m *metrics.Metrics, s *store.Store, services *Services, streams *stream.Streams) {
	measureDatabase(m, s)
	measureDeployments(m, services)
	m.Gauge("streams_open", "Streams and sockets that are open.", nil, func() float64 { return float64(streams.Taken()) })
	m.Gauge(
		"streams_max", "Most streams and sockets that may be open.", nil, func() float64 { return float64(streams.Open) },
	)
	turns := streams.Turns
	m.Gauge("operations_running", "Operations that are executed.", nil, func() float64 {
		taken, _ := turns.Taken()
		return float64(taken)
	})

	m.Gauge("operations_waiting", "Operations that wait for their turn.", nil, func() float64 {
		_, waiting := turns.Taken()
		return float64(waiting)
	})
	m.Gauge(
		"operations_max", "Most operations that are executed at once.", nil, func() float64 { return float64(turns.Max()) },
	)
	changes := services.Deploy.View.Feed
	m.Gauge(
		"feed_subscribers", "Subscriptions and requests that wait for changes.", nil,
		func() float64 { return float64(changes.Followers()) },
	)

	m.Gauge("feed_lag_seconds", "For how long changes have been there that this server has not read, 0 where there are "+
		"none.", nil,
		func() float64 { return changes.Lag().Seconds() })
}

// measureDatabase has metrics show how the store uses the database.
func measureDatabase(m *metrics.Metrics, s *store.Store) {
	for name, stats := range s.Pools() {
		m.Pool(name, stats)
	}

	m.Gauge("database_writable", "0 where the storage of the database fails to take writes, 1 otherwise.", nil,
		func() float64 {
			if s.WritesFail() {
				return 0
			}
			return 1
		})

	const lookups = "Statements that were looked for among those that are prepared."
	m.Counter("statement_cache_lookups_total", lookups, map[string]string{"result": "hit"}, func() float64 {
		hits, _ := s.Lookups()
		return float64(hits)
	})
	m.Counter("statement_cache_lookups_total", lookups, map[string]string{"result": "miss"}, func() float64 {
		_, misses := s.Lookups()
		return float64(misses)
	})
}

// measureDeployments has metrics show the deployments that this server ends, and who asks it for some.
func measureDeployments(m *metrics.Metrics, services *Services) {
	journal, runners := services.Journal, &execution.Runners{}
	changed := journal.Changed
	journal.Changed = func(d *ent.Deployment, kind deploymentchange.Kind) {
		changed(d, kind)
		if kind == deploymentchange.KindCOMPLETED {
			m.CountEnded(string(d.Status))
		}
	}
	services.Deploy.Execution.Runners = runners
	services.Retention.Purged, services.Retention.Ended = m.CountPurged, m.CountPurge
	m.Gauges("runners", "Runners, each with a token of its own, that have asked this server for work within ten minutes.",
		[]string{"deployment_type", "destroys"}, func(set func(float64, ...string)) {
			for a, n := range runners.Count(journal.Now()) {
				set(float64(n), a.DeploymentType, strconv.FormatBool(a.Destroys))
			}
		})
}

// Asking returns how the metrics ask the database. offset measures how far the server's clock is ahead of the
// database's.
func (s *Server) Asking(offset func(context.Context) (time.Duration, error)) metrics.Asking {
	return metrics.Asking{Count: s.Services.Deploy.View.Counts, Offset: offset}
}
