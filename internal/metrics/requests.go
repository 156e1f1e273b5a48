package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"slipway/internal/base/fault"
	"slipway/internal/edge/requestlog"
)

// requests are the metrics of requests and of the operations in them.
type requests struct {
	answered, cost            *prometheus.CounterVec
	duration                  *prometheus.HistogramVec
	operations, operationCost *prometheus.CounterVec
	operationDuration         *prometheus.HistogramVec
	items, errors, refusals   *prometheus.CounterVec
	deprecated                *prometheus.CounterVec
	// statuses are the texts of the statuses of HTTP, so that none is made for each request.
	statuses [mostStatus + 1]string
}

// mostStatus is the highest status of HTTP.
const mostStatus = 599

var _ requestlog.Counter = (*requests)(nil)

func newRequests(to prometheus.Registerer) requests {
	r := requests{
		answered: counters(
			to, "http_requests_total", "Requests that were answered; streams and sockets when they end.", "route", "method",
			"status",
		),
		duration: histograms(
			to, "http_request_duration_seconds", "How long requests took, without streams and sockets.", "route",
		),
		cost: counters(to, "http_request_cost_total", "What requests cost their callers.", "route"),
		operations: counters(to, "graphql_operations_total",
			"Operations of GraphQL, by the name that a trusted document gives them, or else their first field.", "type",
			"operation"),
		operationDuration: histograms(
			to, "graphql_operation_duration_seconds", "How long queries and mutations took.", "type", "operation",
		),
		operationCost: counters(
			to, "graphql_operation_cost_total", "What operations and the items of subscriptions cost.", "type", "operation",
		),
		items:    counters(to, "graphql_items_total", "Items that subscriptions were sent.", "operation"),
		errors:   counters(to, "errors_total", "Answers that were an error or began with one, by its code.", "code"),
		refusals: counters(to, "refusals_total", "Answers that were the refusal of a limit.", "limit"),
		deprecated: counters(
			to, "deprecated_fields_total", "Operations that use a deprecated member of the schema, by its coordinate.", "field",
		),
	}

	for status := range r.statuses {
		r.statuses[status] = strconv.Itoa(status)
	}

	return r
}

// Request is a request that was answered.
type Request struct {
	// Route is the pattern that took it, empty for none.
	Route, Method string
	Status, Cost  int
	// Took is how long it took; it does not count for a stream.
	Took     time.Duration
	IsStream bool
}

// CountRequest counts a request.
func (r *requests) CountRequest(q Request) {
	route := q.Route
	if route == "" {
		route = "other"
	}
	r.answered.WithLabelValues(route, methodOf(q.Method), r.statuses[max(min(q.Status, mostStatus), 0)]).Inc()
	if q.Cost > 0 {
		r.cost.WithLabelValues(route).Add(float64(q.Cost))
	}
	if !q.IsStream {
		r.duration.WithLabelValues(route).Observe(q.Took.Seconds())
	}
}

// methodOf returns a method that requests have, or other for one that a caller has made up.
func methodOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete,
		http.MethodOptions:
		return method
	}
	return "other"
}

// CountError implements requestlog.Counter.
func (r *requests) CountError(code fault.Code, limit string) {
	r.errors.WithLabelValues(string(code)).Inc()
	if limit != "" {
		r.refusals.WithLabelValues(limit).Inc()
	}
}

// CountOperation implements requestlog.Counter.
func (r *requests) CountOperation(o requestlog.Operation, cost int, took time.Duration) {
	r.operations.WithLabelValues(o.Type, o.Name).Inc()
	r.operationCost.WithLabelValues(o.Type, o.Name).Add(float64(cost))
	r.operationDuration.WithLabelValues(o.Type, o.Name).Observe(took.Seconds())
}

// CountStream implements requestlog.Counter.
func (r *requests) CountStream(o requestlog.Operation, cost int) {
	r.operations.WithLabelValues(o.Type, o.Name).Inc()
	r.operationCost.WithLabelValues(o.Type, o.Name).Add(float64(cost))
}

// CountDeprecated implements requestlog.Counter.
func (r *requests) CountDeprecated(field string) {
	r.deprecated.WithLabelValues(field).Inc()
}

// CountItem implements requestlog.Counter.
func (r *requests) CountItem(o requestlog.Operation, cost int) {
	r.items.WithLabelValues(o.Name).Inc()
	r.operationCost.WithLabelValues(o.Type, o.Name).Add(float64(cost))
}
