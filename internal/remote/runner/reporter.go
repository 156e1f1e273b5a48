package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/pure/runlog"
	"slipway/internal/remote/client"
	"slipway/internal/remote/runner/keeper"
)

const (
	// A report is sent when it has so many events, lines or bytes, or so long after the first of them.
	reportEvents = 100
	reportLines  = runlog.MaxReported
	reportBytes  = 64 << 10
	reportEvery  = 500 * time.Millisecond
	// readAhead is how many items may wait for the next report.
	readAhead = 100
)

// place is a place in the output of a program: the offset of a record, and how many items of it come before.
type place struct {
	offset int64
	items  int
}

// isBefore reports whether the place is before another.
func (p place) isBefore(other place) bool {
	return p.offset < other.offset || p.offset == other.offset && p.items < other.items
}

// progress is how far a program's output has been reported. It is stored before each report. A runner that adopts the
// program repeats the last report, which may have been lost, under the same number.
type progress struct {
	// Sequence is the number of the last report.
	Sequence int `json:"sequence"`
	// Reported is the offset in the output up to which the server has acknowledged reports, and ReportedItems how many
	// items of the record there it has acknowledged, too.
	Reported      int64 `json:"reported"`
	ReportedItems int   `json:"reportedItems,omitempty"`
	// Sent and SentItems are the place up to which the last report goes.
	Sent      int64 `json:"under"`
	SentItems int   `json:"underItems,omitempty"`
	// Outputs are the last that the program has printed up to there, a JSON object; nil for none.
	Outputs []byte `json:"outputs,omitempty"`
}

func (p *progress) reported() place { return place{p.Reported, p.ReportedItems} }
func (p *progress) sent() place     { return place{p.Sent, p.SentItems} }

// reporter reports to the server what a program prints, in order.
type reporter struct {
	job   *job
	items chan item
	// next was taken from items and is the first of the next report.
	next *item
	// withoutLogs is whether the server is one from before logs.
	withoutLogs bool
	// inObject is whether the last line that was read begins a JSON object that goes on below.
	inObject bool
	progress
}

// report reports the output of the program until the program has ended or the lease is lost.
func (j *job) report() {
	r := &reporter{job: j, items: make(chan item, readAhead)}
	if _, err := j.program.LoadNote(&r.progress); err != nil {
		j.log.Error("cannot read how much of the output was reported; reporting all stored output", "error", err)
	}

	go r.read(j.program.Output(r.Reported), r.reported())
	if r.reported().isBefore(r.sent()) {
		r.Sequence--
		r.deliver(r.repeat())
	}

	for batch := r.collect(); len(batch) > 0 && j.leaseCtx.Err() == nil; batch = r.collect() {
		r.deliver(batch)
	}
}

// read reads the output to its end, from a place on.
func (r *reporter) read(output *keeper.Output, from place) {
	defer close(r.items)
	defer output.Close()
	for {
		record, err := output.Next(r.job.leaseCtx)
		if err != nil {
			r.readEnd(err, from)
			return
		}
		if !r.readRecord(record, from) {
			return
		}
		from = place{record.End, 0}
	}
}

// readRecord passes on the items of a record from a place on, and reports false if the lease has ended.
func (r *reporter) readRecord(record keeper.Record, from place) bool {
	items := parse(record, r.job.mask)
	if missed, ok := missedOutputs(record); ok && r.inObject {
		items = append(items, missed)
	}
	r.inObject = beginsObject(record)

	for i, it := range items {
		if record.Stderr {
			r.job.log.Debug("standard error", "line", it.log.Text)
		}
		if it.end = (place{from.offset, i + 1}); i == len(items)-1 {
			it.end = place{record.End, 0}
		}
		if i >= from.items && !r.pass(it) {
			return false
		}
	}
	return true
}

// readEnd takes the error that ends the output: io.EOF, if it was read whole.
func (r *reporter) readEnd(err error, from place) {
	switch {
	case errors.Is(err, io.EOF):
		r.readLost(from)
	case r.job.leaseCtx.Err() == nil:
		r.job.log.Error("cannot read the rest of the program's output", "error", err)
	}
}

// readLost passes a line that says how many were lost, if any were. It has the place of an item behind the output's
// end.
func (r *reporter) readLost(from place) {
	end, err := r.job.program.Wait(r.job.leaseCtx)
	if err != nil || end.Lost == 0 || from.items > 0 {
		return
	}
	at := r.job.Clock().Wall
	r.pass(item{end: place{from.offset, 1}, log: &client.LogLineInput{
		At: &at, Stream: client.LogStreamStdout, Text: fmt.Sprintf("%d lines of the program's output are lost.", end.Lost),
	}})
}

// pass passes an item on to the next report, and reports false if the lease has ended.
func (r *reporter) pass(it item) bool {
	select {
	case r.items <- it:
		return true
	case <-r.job.leaseCtx.Done():
		return false
	}
}

// repeat collects the items of the report that an earlier runner has sent and that may have been lost.
func (r *reporter) repeat() (batch []item) {
	for it := range r.items {
		r.keep(it)
		if batch = append(batch, it); !it.end.isBefore(r.sent()) {
			break
		}
	}
	return batch
}

// collect waits for the items of one report: events and lines, or one change of the record's fields. It returns none
// after the last.
func (r *reporter) collect() []item {
	first, open := r.first()
	switch {
	case !open:
		return nil
	case first.fields != nil:
		return []item{first}
	}

	r.keep(first)
	batch, size := []item{first}, first.size()
	events, lines := first.count()

	timeout := time.After(reportEvery)

	for !r.isFull(events, lines, size) {
		select {
		case it, open := <-r.items:
			if !open {
				return batch
			}
			if it.fields != nil || size+it.size() > reportBytes {
				r.next = &it
				return batch
			}
			r.keep(it)
			batch, size = append(batch, it), size+it.size()
			e, l := it.count()
			events, lines = events+e, lines+l
		case <-timeout:
			return batch
		}
	}
	return batch
}

// isFull reports whether nothing more is to be added to a report.
func (r *reporter) isFull(events, lines, size int) bool {
	if r.withoutLogs {
		events += lines
	}
	return events >= reportEvents || lines >= reportLines || size >= reportBytes
}

// first waits for the first item of a report, and reports false after the last.
func (r *reporter) first() (it item, open bool) {
	if r.next != nil {
		it, r.next = *r.next, nil
		return it, true
	}
	it, open = <-r.items
	return it, open
}

// keep keeps the outputs that an item has, in place of earlier ones.
func (r *reporter) keep(it item) {
	if it.outputs != nil {
		r.Outputs = it.outputs
	}
}

// deliver reports a batch. If the server refuses its content, each item is reported by itself, and a message replaces
// an item that is refused again.
func (r *reporter) deliver(batch []item) {
	if len(batch) == 0 {
		return
	}

	end := batch[len(batch)-1].end
	if !slices.ContainsFunc(batch, item.isReported) {
		r.skip(end)
		return
	}

	err := r.send(batch, end)
	switch {
	case err == nil || r.job.leaseCtx.Err() != nil:
	case !r.withoutLogs && knowsNoLogs(err):
		r.withoutLogs = true
		for some := range slices.Chunk(batch, reportEvents) {
			r.deliver(some)
		}
	case !aboutContent(err):
		r.job.refused("a report was refused", err)
	case len(batch) > 1:
		for _, one := range batch {
			r.deliver([]item{one})
		}
	default:
		r.job.log.Warn("a report was refused", "error", err)
		said := fmt.Sprintf("The server refused what the program reported: %s: %s", err, batch[0].text())
		replacement := message(said, time.Now())
		if err := r.send([]item{{event: replacement}}, end); err != nil {
			r.job.refused("a report was refused", err)
		}
	}
}

// knowsNoLogs reports whether the server is one from before logs.
func knowsNoLogs(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && refused.Code == string(fault.DocumentVariablesInvalid) &&
		slices.Equal(refused.Path, []any{"variable", "input", "logs"})
}

// isReported reports whether the server is told of the item.
func (i item) isReported() bool { return i.outputs == nil }

// text returns the item as JSON, for a message.
func (i item) text() string {
	switch {
	case i.event != nil:
		return string(jsonOf(i.event))
	case i.fields != nil:
		return string(jsonOf(i.fields))
	}
	return string(jsonOf(i.log))
}

// count returns how many events and how many lines the item is.
func (i item) count() (events, lines int) {
	switch {
	case i.event != nil:
		return 1, 0
	case i.log != nil:
		return 0, 1
	}
	return 0, 0
}

// send sends one report, of the output up to a place, until it is answered or refused. Its number lets the server
// recognize a report whose answer was lost.
func (r *reporter) send(batch []item, end place) error {
	r.Sequence, r.Sent, r.SentItems = r.Sequence+1, end.offset, end.items
	r.save()

	input := client.ReportDeploymentInput{Id: r.job.DeploymentID, LeaseId: r.job.lease().ID, Sequence: &r.Sequence}
	for _, one := range batch {
		if r.withoutLogs {
			one = one.asEvent()
		}
		one.addTo(&input)
	}

	err := r.job.request("reportDeployment", func(ctx context.Context) (client.GrantedLease, error) {
		response, err := client.ReportDeployment(ctx, r.job.client, input)

		if err != nil {
			return client.GrantedLease{}, err
		}
		return response.ReportDeployment.Lease, nil
	})
	if err != nil {
		return err
	}
	r.acknowledged(end)
	return nil
}

// skip goes on behind output of which nothing is to be reported.
func (r *reporter) skip(end place) {
	r.Sent, r.SentItems, r.Reported, r.ReportedItems = end.offset, end.items, end.offset, end.items
	r.save()
	r.acknowledged(end)
}

// save stores the progress.
func (r *reporter) save() {
	if err := r.job.program.SaveNote(r.progress); err != nil {
		r.job.log.Error("cannot store how much of the output was reported; the next runner would report it again",
			"error", err)
	}
}

// acknowledged notes that the output is reported up to a place, and removes it.
func (r *reporter) acknowledged(end place) {
	r.Reported, r.ReportedItems = end.offset, end.items
	if err := r.job.program.Discard(r.Reported); err != nil {
		r.job.log.Error("cannot remove output that was reported", "error", err)
	}
}
