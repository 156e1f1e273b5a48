package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"slipway/internal/keeper"
)

const (
	// A report goes out with so many events, so many bytes, or so long after its first event.
	reportEvents = 100
	reportBytes  = 64 << 10
	reportEvery  = 500 * time.Millisecond
	// waiting is how many items are read ahead.
	waiting = 100
)

// progress is how far a program's output has been reported. It is kept before each report, so that a
// runner that takes the program up makes the report again that may have been lost, under its number.
type progress struct {
	// Sequence is the number of the last report, Reported the offset up to which the server has all, and
	// Under that up to which the last report goes.
	Sequence int   `json:"sequence"`
	Reported int64 `json:"reported"`
	Under    int64 `json:"under"`
}

// reporter tells the server what a program says, in order.
type reporter struct {
	job   *job
	items chan item
	// next was taken from items, and begins the next report.
	next *item
	progress
}

// report tells the server what the program says until it has ended, or the lease is lost.
func (j *job) report() {
	r := &reporter{job: j, items: make(chan item, waiting)}
	if _, err := j.kept.Noted(&r.progress); err != nil {
		j.log.Error("it is not known what was reported: all that is kept is reported", "error", err)
	}
	go r.read(j.kept.Output(r.Reported))
	if r.Under > r.Reported {
		r.Sequence--
		r.deliver(r.again())
	}
	for batch := r.collect(); len(batch) > 0 && j.held.Err() == nil; batch = r.collect() {
		r.deliver(batch)
	}
}

// read reads the output to its end.
func (r *reporter) read(output *keeper.Output) {
	defer close(r.items)
	defer output.Close()
	for {
		said, err := output.Next(r.job.held)
		if err != nil {
			if !errors.Is(err, io.EOF) && r.job.held.Err() == nil {
				r.job.log.Error("the program's output cannot be read to its end", "error", err)
			}
			return
		}
		if said.Stderr {
			r.job.log.Debug("standard error", "line", said.Line)
			continue
		}
		it, ok := parse(said.Line, said.At)
		if !ok {
			continue
		}
		it.end = said.End
		select {
		case r.items <- it:
		case <-r.job.held.Done():
			return
		}
	}
}

// again collects the items of the report that an earlier runner may have made.
func (r *reporter) again() (batch []item) {
	for said := range r.items {
		if batch = append(batch, said); said.end >= r.Under {
			break
		}
	}
	return batch
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
	if len(batch) == 0 {
		return
	}
	end := batch[len(batch)-1].end
	err := r.send(batch, end)
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
		if err := r.send([]item{told}, end); err != nil && !aboutContent(err) {
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

const reportDeployment = `mutation($input: ReportDeploymentInput!) { reportDeployment(input: $input) { lease { seconds cancelSeconds } } }`

// send sends one report, which goes up to an offset of the output, until it is answered or refused. Its
// number keeps the server from taking it twice where an answer was lost.
func (r *reporter) send(batch []item, end int64) error {
	r.Sequence, r.Under = r.Sequence+1, end
	if err := r.job.kept.Note(r.progress); err != nil {
		r.job.log.Error("what is reported cannot be noted: another runner would report it again", "error", err)
	}
	input := map[string]any{"sequence": r.Sequence}
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
	if err := r.job.ask("reportDeployment", reportDeployment, input); err != nil {
		return err
	}
	r.Reported = end
	if err := r.job.kept.Taken(end); err != nil {
		r.job.log.Error("output that was reported cannot be removed", "error", err)
	}
	return nil
}
