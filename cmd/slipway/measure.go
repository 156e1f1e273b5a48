package main

import (
	"context"
	"log/slog"
	"os"

	"slipway/internal/base/setting"
	"slipway/internal/base/tracing/otlp"
	"slipway/internal/metrics"
)

// measureProgram has metrics show what serves, and until when its certificate is valid, if there is one.
func measureProgram(m *metrics.Metrics, pair *keyPair) {
	b := thisBuild()
	m.Gauge("build_info", "What the program was built from.",
		map[string]string{"version": b.version, "commit": b.commit, "go_version": b.goVersion}, func() float64 { return 1 })
	if pair != nil {
		m.Gauge("tls_certificate_expiry_timestamp_seconds", "Until when the certificate that is served is valid.", nil,
			func() float64 { return float64(pair.current.Load().Leaf.NotAfter.Unix()) })
	}
}

// openTraces has traces sent if the environment says to.
func (s *settings) openTraces(ctx context.Context, log *slog.Logger) (err error) {
	if s.traces, err = otlp.Open(ctx, os.LookupEnv, thisBuild().version, log); err != nil {
		return setting.Usagef("%v", err)
	}
	return nil
}
