package demo

import (
	"time"

	"slipway/internal/pure/event"
	"slipway/internal/pure/runlog"
)

// printed returns the lines that a program prints on the way to what it tells: one for each event.
func printed(news []event.Event) []runlog.Line {
	lines := make([]runlog.Line, len(news))
	for i, e := range news {
		lines[i] = runlog.Line{Stream: runlog.Stdout}
		if e.StartedAt != nil {
			if at, err := time.Parse(time.RFC3339Nano, *e.StartedAt); err == nil {
				lines[i].At = &at
			}
		}
		if e.LifecycleStage != nil {
			lines[i].Text = "[" + *e.LifecycleStage + "] "
		}
		if e.Message != nil {
			lines[i].Text += *e.Message
		}
	}
	return lines
}
