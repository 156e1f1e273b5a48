package keeper

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Output reads what a program prints, from an offset on. It polls the files, as the writer is another process.
type Output struct {
	program *Handle
	// at is the offset of the next record, start the offset of its segment.
	at, start int64
	file      *os.File
	in        *bufio.Reader
	// part is the beginning of a record that is not complete yet.
	part []byte
}

// Output returns the output of the program from the End of a Record on, or from 0.
func (h *Handle) Output(from int64) *Output { return &Output{program: h, at: from} }

// Next waits for the next record. It returns io.EOF after the last record, and the cause of ctx if that ends.
func (o *Output) Next(ctx context.Context) (Record, error) {
	idle := minPoll
	for {
		// A keeper that has ended before the files are read has written all of them.
		ended := o.program.hasEnded()
		r, err := o.read()
		if err == nil || !errors.Is(err, io.EOF) {
			return r, err
		}
		if ended {
			return Record{}, io.EOF
		}
		if idle, err = pollWait(ctx, idle); err != nil {
			return Record{}, err
		}
	}
}

// read returns the next record, and io.EOF if there is none yet.
func (o *Output) read() (Record, error) {
	for {
		// A segment that another follows is complete.
		next, followed, err := o.nextSegment()
		if err != nil {
			return Record{}, err
		}
		r, err := o.readLine()
		if !errors.Is(err, io.EOF) || !followed {
			return r, err
		}
		o.Close()
		o.at, o.start, o.part = next, next, nil
	}
}

// nextSegment returns the offset of the segment after the current one, and reports whether there is one.
func (o *Output) nextSegment() (start int64, ok bool, err error) {
	starts, err := o.program.segments()
	if err != nil {
		return 0, false, err
	}
	if o.file == nil {
		if err := o.open(starts); err != nil {
			return 0, false, err
		}
	}
	for _, start := range starts {
		if start > o.start {
			return start, true, nil
		}
	}
	return 0, false, nil
}

// open opens the segment that has the next record, if it exists.
func (o *Output) open(starts []int64) error {
	for _, start := range slices.Backward(starts) {
		if start > o.at {
			continue
		}
		file, err := os.Open(o.program.path(segmentName(start)))
		if err != nil {
			return err
		}
		if _, err := file.Seek(o.at-start, io.SeekStart); err != nil {
			return errors.Join(err, file.Close())
		}
		o.file, o.start, o.in = file, start, bufio.NewReader(file)
		return nil
	}
	return nil
}

// readLine reads a record of the current segment, or returns io.EOF if there is no complete one yet.
func (o *Output) readLine() (r Record, err error) {
	if o.file == nil {
		return Record{}, io.EOF
	}
	part, err := o.in.ReadBytes('\n')
	o.part = append(o.part, part...)
	if err != nil {
		return Record{}, err
	}
	line := o.part
	o.at, o.part = o.at+int64(len(line)), nil
	if err := json.Unmarshal(bytes.TrimSpace(line), &r); err != nil {
		return Record{}, fmt.Errorf("the output of the program cannot be read at %d: %w", o.at, err)
	}
	r.End = o.at
	return r, nil
}

// Close closes the output.
func (o *Output) Close() {
	if o.file != nil {
		_ = o.file.Close()
		o.file = nil
	}
}

// Discard removes the output up to the End of a Record, as far as it fills files, so that the program may print more.
func (h *Handle) Discard(until int64) error {
	starts, err := h.segments()
	if err != nil {
		return err
	}
	for i := 1; i < len(starts) && starts[i] <= until; i++ {
		if err := os.Remove(h.path(segmentName(starts[i-1]))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// segments returns the offsets of the segments that exist, in order.
func (h *Handle) segments() (starts []int64, err error) {
	entries, err := os.ReadDir(string(h.folder))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if start, ok := segmentStart(e.Name()); ok {
			starts = append(starts, start)
		}
	}
	slices.Sort(starts)
	return starts, nil
}

// The time between two polls, which grows while nothing happens.
const minPoll, maxPoll = 5 * time.Millisecond, 100 * time.Millisecond

// pollWait waits for d, and returns how long to wait the next time.
func pollWait(ctx context.Context, d time.Duration) (next time.Duration, err error) {
	select {
	case <-time.After(d):
		return min(2*d, maxPoll), nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
