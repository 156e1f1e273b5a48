package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	// A report goes out with so many events, so many bytes, or so long after its first event.
	reportEvents = 50
	reportBytes  = 64 << 10
	reportEvery  = 500 * time.Millisecond
	// waiting is how many items may wait to be reported; a program that is faster is held up.
	waiting = 50
)

// reporter tells the server what a program says, in order.
type reporter struct {
	job      *job
	items    chan item
	done     chan struct{}
	sequence int
	// next was taken from items, and begins the next report.
	next *item
}

func (j *job) newReporter() *reporter {
	r := &reporter{job: j, items: make(chan item, waiting), done: make(chan struct{})}
	go r.run()
	return r
}

// line takes a line that the program has printed. Once the lease has ended it is dropped, so that the
// program is not held up on its way to end.
func (r *reporter) line(line string) {
	said, ok := parse(line, time.Now())
	if !ok {
		return
	}
	r.take(said)
}

func (r *reporter) take(said item) {
	select {
	case r.items <- said:
	case <-r.job.held.Done():
	}
}

// finish waits until all that was taken is reported, or the lease has ended.
func (r *reporter) finish() {
	close(r.items)
	<-r.done
}

func (r *reporter) run() {
	defer close(r.done)
	for {
		batch := r.collect()
		if len(batch) == 0 {
			return
		}
		r.deliver(batch)
	}
}

// collect waits for the items of one report: events, or the fields of the record by themselves. It gives
// none once all were taken.
func (r *reporter) collect() []item {
	first, open := r.first()
	if !open || first.fields != nil {
		return batchOf(first, open)
	}
	batch, size := []item{first}, first.size()
	late := time.After(reportEvery)
	for len(batch) < reportEvents && size < reportBytes {
		select {
		case said, open := <-r.items:
			if !open {
				return batch
			}
			if said.fields != nil || size+said.size() > reportBytes {
				r.next = &said
				return batch
			}
			batch, size = append(batch, said), size+said.size()
		case <-late:
			return batch
		}
	}
	return batch
}

func batchOf(one item, there bool) []item {
	if !there {
		return nil
	}
	return []item{one}
}

func (r *reporter) first() (said item, open bool) {
	if r.next != nil {
		said, r.next = *r.next, nil
		return said, true
	}
	said, open = <-r.items
	return said, open
}

// deliver reports a batch. Where the server refuses what is in it, each item is reported by itself, and
// one that is refused then is told of instead. Any other refusal ends the lease.
func (r *reporter) deliver(batch []item) {
	err := r.report(batch)
	switch {
	case err == nil || r.job.held.Err() != nil:
	case !aboutContent(err):
		r.job.lose(fmt.Errorf("a report was refused: %w", err))
	case len(batch) > 1:
		for _, one := range batch {
			r.deliver([]item{one})
		}
	default:
		r.job.log.Warn("a report was refused", "error", err)
		told := message(fmt.Sprintf("The server refused what the program reported: %s: %s", err, batch[0].shown()), time.Now())
		if err := r.report([]item{told}); err != nil && !aboutContent(err) {
			r.job.lose(fmt.Errorf("a report was refused: %w", err))
		}
	}
}

// aboutContent says whether a refusal is about what was sent, and not about who sent it or when.
func aboutContent(err error) bool {
	said, ok := errors.AsType[*refusal](err)
	return ok && (said.status == http.StatusBadRequest || said.status == http.StatusRequestEntityTooLarge ||
		said.status == http.StatusUnprocessableEntity)
}

// shown is what was refused, as text.
func (i item) shown() string {
	said := i.event
	if said == nil {
		said = i.fields
	}
	text, err := json.Marshal(said)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

const reportDeployment = `mutation($input: ReportDeploymentInput!) { reportDeployment(input: $input) { lease { seconds } } }`

// report sends one report until it is answered or refused. Its number keeps the server from taking it
// twice where an answer was lost.
func (r *reporter) report(batch []item) error {
	r.sequence++
	input := map[string]any{"sequence": r.sequence}
	var events []object
	for _, one := range batch {
		if one.event != nil {
			events = append(events, one.event)
		}
		for name, value := range one.fields {
			input[name] = value
		}
	}
	if len(events) > 0 {
		input["events"] = events
	}
	return r.job.ask("reportDeployment", reportDeployment, input)
}
