// Package otlp sends the spans of a server to a collector, by OTLP over HTTP, as the usual variables of OpenTelemetry
// say: OTEL_EXPORTER_OTLP_ENDPOINT and the others that begin with it, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES,
// OTEL_TRACES_SAMPLER. https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ has them all.
package otlp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
)

// serviceName is that of the spans if the environment says none.
const serviceName = "slipway"

// Environment looks a variable up, as os.LookupEnv does.
type Environment func(name string) (value string, isSet bool)

// get returns a variable, empty if it is not set.
func (e Environment) get(name string) string {
	value, _ := e(name)
	return value
}

// IsOn reports whether the environment asks for spans: a collector is named, or the exporter, and nothing turns it off.
// The error says what it asks for that there is not.
func IsOn(env Environment) (bool, error) {
	if env.get("OTEL_SDK_DISABLED") == "true" {
		return false, nil
	}

	exporter := env.get("OTEL_TRACES_EXPORTER")
	switch exporter {
	case "none":
		return false, nil
	case "", "otlp":
	default:
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER: want otlp or none, found %q", exporter)
	}

	isNamed := env.get("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
	if exporter == "" && !isNamed {
		return false, nil
	}

	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := env.get(name); p != "" && p != "http/protobuf" {
			return false, fmt.Errorf("%s: want http/protobuf, found %q", name, p)
		}
	}
	return true, nil
}

// Exporter sends spans. A nil one sends none.
type Exporter struct{ provider *trace.TracerProvider }

// Open returns the exporter that the environment asks for, nil for none. version is that of the program. What cannot be
// sent is dropped, and logged.
func Open(ctx context.Context, env Environment, version string, log *slog.Logger) (*Exporter, error) {
	isOn, err := IsOn(env)
	if err != nil || !isOn {
		return nil, err
	}
	client, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot export traces: %w", err)
	}
	// Of attributes of one name the last is taken: what the environment says of the service wins.
	of, err := resource.New(ctx,
		resource.WithAttributes(
			attribute.String("service.name", serviceName), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("cannot export traces: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(&errorLog{log: log})
	return &Exporter{trace.NewTracerProvider(trace.WithBatcher(client), trace.WithResource(of))}, nil
}

// Handler returns a handler whose requests have a span, which goes on with the trace that its caller names. nil calls
// next as it is.
func (e *Exporter) Handler(next http.Handler) http.Handler {
	if e == nil {
		return next
	}
	return otelhttp.NewHandler(next, "request", otelhttp.WithTracerProvider(e.provider),
		otelhttp.WithPropagators(propagation.TraceContext{}))
}

// flushing bounds how long the end waits for what is not sent yet.
const flushing = 5 * time.Second

// Close sends what is not sent yet, and ends.
func (e *Exporter) Close(ctx context.Context) error {
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushing)
	defer cancel()
	if err := e.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("the last traces were not sent: %w", err)
	}
	return nil
}
