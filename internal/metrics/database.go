package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"slipway/internal/data/store"
)

const (
	// askEvery is how often the database is asked, askWithin how long it may take to answer.
	askEvery  = 15 * time.Second
	askWithin = 5 * time.Second
)

// database are the metrics that the database is asked for. Every server that shares it has the same.
type database struct {
	up, asked, offset              prometheus.Gauge
	deployments                    *prometheus.GaugeVec
	oldest, late, drifted, audited prometheus.Gauge
}

func newDatabase(to prometheus.Registerer) database {
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: Namespace, Name: name, Help: help})
		to.MustRegister(g)
		return g
	}

	d := database{
		up:     gauge("database_up", "1 where the database has answered when it was asked last, 0 where it has not."),
		asked:  gauge("database_asked_timestamp_seconds", "When the database has last answered with all of its numbers."),
		offset: gauge("database_clock_offset_seconds", "How far the server's clock is ahead of the database's."),
		deployments: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: Namespace, Name: "deployments",
			Help: "Deployments that have not ended, without those that were started outside.",
		}, []string{"status"}),
		oldest: gauge(
			"deployments_oldest_pending_seconds", "How long the oldest PENDING deployment has been waiting, 0 for none.",
		),
		late: gauge("leases_late", "RUNNING deployments whose lease ran out more than 30 s ago, and which no server has "+
			"ended."),
		drifted: gauge("instances_drifted", "Instances that have drifted."),
		audited: gauge("audit_rows", "Rows of the audit, by the statistics of the database."),
	}

	to.MustRegister(d.deployments)
	return d
}

// Asking is how to ask the database.
type Asking struct {
	// Count returns its numbers, Offset how far the server's clock is ahead of its.
	Count  func(context.Context) (store.Counts, error)
	Offset func(context.Context) (time.Duration, error)
}

// WatchDatabase asks the database now and at intervals, until ctx ends.
func (m *Metrics) WatchDatabase(ctx context.Context, a Asking) {
	next := time.NewTicker(askEvery)
	defer next.Stop()
	for {
		m.AskDatabase(ctx, a)
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
	}
}

// AskDatabase asks the database once. If it does not answer, the numbers stay as they are, and the time of the last
// answer with them.
func (m *Metrics) AskDatabase(ctx context.Context, a Asking) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()

	offset, err := a.Offset(ctx)
	var c store.Counts
	if err == nil {
		c, err = a.Count(ctx)
	}
	if err != nil {
		m.up.Set(0)
		return
	}

	m.up.Set(1)
	m.asked.SetToCurrentTime()
	m.offset.Set(offset.Seconds())
	m.deployments.WithLabelValues("AWAITING_APPROVAL").Set(float64(c.Awaiting))
	m.deployments.WithLabelValues("PENDING").Set(float64(c.Pending))
	m.deployments.WithLabelValues("RUNNING").Set(float64(c.Running))
	m.oldest.Set(c.OldestPending.Seconds())
	m.late.Set(float64(c.LateLeases))
	m.drifted.Set(float64(c.Drifted))

	m.audited.Set(float64(c.AuditRows))
}
