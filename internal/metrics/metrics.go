// Package metrics counts what a server does, for Prometheus.
//
// Every label has values that come from the program, its schema or its configuration, and none that a caller chooses,
// so that there are only so many series. What the database has to be asked for is asked at intervals, however often
// somebody reads the metrics.
package metrics

import (
	"database/sql"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Namespace is what the names of all metrics begin with that are Slipway's own.
const Namespace = "slipway"

// Metrics are those of one server.
type Metrics struct {
	registry *prometheus.Registry
	requests
	database

	ended, purges, purged *prometheus.CounterVec
}

// New returns metrics with those of Go and of the process.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.requests, m.database = newRequests(m.registry), newDatabase(m.registry)
	m.ended = counters(
		m.registry, "deployments_ended_total", "Deployments that this server has ended, by their status then.", "status",
	)
	m.purges = counters(
		m.registry, "purges_total", "Purges of this server, by whether all was removed that was too old.", "result",
	)
	m.purged = counters(
		m.registry, "purged_rows_total", "Rows that this server has removed because of their age, or whose details.", "what",
	)
	for _, result := range []string{purgeDone, purgeFailed} { // what begins with its first failure has not risen by it
		m.purges.WithLabelValues(result)
	}
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxReaders})
}

// maxReaders is how many may read the metrics at once.
const maxReaders = 4

// CountEnded counts a deployment that has ended with a status.
func (m *Metrics) CountEnded(status string) { m.ended.WithLabelValues(status).Inc() }

// The results of a purge.
const purgeDone, purgeFailed = "done", "failed"

// CountPurge counts a purge, and whether it has removed all that was too old.
func (m *Metrics) CountPurge(err error) {
	result := purgeDone
	if err != nil {
		result = purgeFailed
	}
	m.purges.WithLabelValues(result).Inc()
}

// CountPurged counts rows of a kind that were removed, or that lost their details.
func (m *Metrics) CountPurged(what string, rows int) {
	m.purged.WithLabelValues(what).Add(float64(rows))
}

// Gauge adds a number that is read each time that the metrics are. labels are its names and values, which do not
// change.
func (m *Metrics) Gauge(name, help string, labels map[string]string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: Namespace, Name: name, Help: help, ConstLabels: labels,
	}, read))
}

// Counter is Gauge for a number that only rises.
func (m *Metrics) Counter(name, help string, labels map[string]string, read func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: Namespace, Name: name, Help: help, ConstLabels: labels,
	}, read))
}

// Gauges adds numbers that are read together each time that the metrics are, by the values of their labels.
func (m *Metrics) Gauges(name, help string, labels []string, read func(set func(value float64, labels ...string))) {
	m.registry.MustRegister(
		&gauges{prometheus.NewDesc(prometheus.BuildFQName(Namespace, "", name), help, labels, nil), read},
	)
}

// gauges are a Collector of numbers that are read together.
type gauges struct {
	of   *prometheus.Desc
	read func(set func(value float64, labels ...string))
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(to chan<- *prometheus.Desc) { to <- g.of }

// Collect implements prometheus.Collector.
func (g *gauges) Collect(to chan<- prometheus.Metric) {
	g.read(func(value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(g.of, prometheus.GaugeValue, value, labels...)
	})
}

// Pool adds the state of a pool of connections.
func (m *Metrics) Pool(name string, stats func() sql.DBStats) {
	pool := map[string]string{"pool": name}
	in := func(state string) map[string]string { return map[string]string{"pool": name, "state": state} }
	const connections = "Connections to the database, by what they do."
	m.Gauge("database_connections", connections, in("in_use"), func() float64 { return float64(stats().InUse) })
	m.Gauge("database_connections", connections, in("idle"), func() float64 { return float64(stats().Idle) })
	m.Gauge("database_connections_max", "Most connections that there may be, 0 for no limit.", pool,
		func() float64 { return float64(stats().MaxOpenConnections) })
	m.Counter("database_connection_waits_total", "How often somebody waited for a connection.", pool,
		func() float64 { return float64(stats().WaitCount) })
	m.Counter("database_connection_wait_seconds_total", "How long all waited for a connection.", pool,
		func() float64 { return stats().WaitDuration.Seconds() })
}

func counters(to prometheus.Registerer, name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: Namespace, Name: name, Help: help}, labels)
	to.MustRegister(c)
	return c
}

func histograms(to prometheus.Registerer, name, help string, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(
		prometheus.HistogramOpts{Namespace: Namespace, Name: name, Help: help, Buckets: durations()}, labels,
	)
	to.MustRegister(h)
	return h
}

// durations returns the bounds of histograms of time, in seconds: from what a read takes to what a claim may wait.
func durations() []float64 {
	return []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30}
}
