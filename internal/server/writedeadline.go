package server

import (
	"net/http"
	"time"
)

// writeDeadline makes of the deadline of an answer over HTTP/2 what it is over HTTP/1: one that fails what is being
// written when it passes. An http.Server resets the stream then, also while nothing is written, as it does when its
// WriteTimeout has passed since the request came: it would end every stream of events, and each request that runs for
// longer.
type writeDeadline struct {
	http.ResponseWriter
	rc *http.ResponseController
	at time.Time
}

func newWriteDeadline(w http.ResponseWriter) *writeDeadline {
	d := &writeDeadline{ResponseWriter: w, rc: http.NewResponseController(w)}
	d.clear()
	return d
}

// Unwrap lets http.ResponseController find the rest of what the server's writer can do.
func (d *writeDeadline) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// SetWriteDeadline is what an http.ResponseController calls.
func (d *writeDeadline) SetWriteDeadline(at time.Time) error {
	d.at = at
	return nil
}

// Write implements io.Writer.
func (d *writeDeadline) Write(p []byte) (int, error) {
	d.set()
	defer d.clear()
	return d.ResponseWriter.Write(p)
}

// FlushError sends what was written, as http.ResponseController has it.
func (d *writeDeadline) FlushError() error {
	d.set()
	defer d.clear()
	return d.rc.Flush()
}

func (d *writeDeadline) set()   { _ = d.rc.SetWriteDeadline(d.at) }
func (d *writeDeadline) clear() { _ = d.rc.SetWriteDeadline(time.Time{}) }
