package otlp

import (
	"log/slog"
	"sync"
	"time"
)

// logEvery is the least time between two lines about traces that were not sent.
const logEvery = time.Minute

// errorLog logs that traces cannot be sent, once a minute at most.
type errorLog struct {
	log  *slog.Logger
	mu   sync.Mutex
	last time.Time
}

// Handle implements otel.ErrorHandler.
func (e *errorLog) Handle(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := time.Now(); now.Sub(e.last) >= logEvery {
		e.last = now
		e.log.Warn("traces cannot be sent", "error", err)
	}
}
