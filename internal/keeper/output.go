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

// Output reads what a program prints, from an offset on.
type Output struct {
	kept *Kept
	// at is the offset of the next record, start that of the segment it is in.
	at, start int64
	file      *os.File
	in        *bufio.Reader
	// part is a record that is not written to its end yet.
	part []byte
}

// Output returns the output of the program from the end of an earlier Record on, or from 0.
func (k *Kept) Output(from int64) *Output { return &Output{kept: k, at: from} }

// Next waits for the next record. After the last it returns io.EOF, and the cause of ctx where that ends.
func (o *Output) Next(ctx context.Context) (Record, error) {
	idle := shortest
	for {
		// Whoever has ended has written all that it writes.
		ended, err := o.kept.ended()
		if err != nil {
			return Record{}, err
		}
		said, err := o.read()
		if err == nil || !errors.Is(err, io.EOF) {
			return said, err
		}
		if ended {
			return Record{}, io.EOF
		}
		if idle, err = wait(ctx, idle); err != nil {
			return Record{}, err
		}
	}
}

// read returns the next record, and io.EOF where there is none yet.
func (o *Output) read() (Record, error) {
	for {
		// A segment that another follows is whole.
		next, followed, err := o.following()
		if err != nil {
			return Record{}, err
		}
		said, err := o.readLine()
		if !errors.Is(err, io.EOF) || !followed {
			return said, err
		}
		o.Close()
		o.at, o.start, o.part = next, next, nil
	}
}

// following returns the offset of the segment after that of the next record.
func (o *Output) following() (start int64, ok bool, err error) {
	starts, err := o.kept.segments()
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

// open opens the segment that has the next record, if it is there.
func (o *Output) open(starts []int64) error {
	for _, start := range slices.Backward(starts) {
		if start > o.at {
			continue
		}
		file, err := os.Open(o.kept.path(segmentName(start)))
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

func (o *Output) readLine() (said Record, err error) {
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
	if err := json.Unmarshal(bytes.TrimSpace(line), &said); err != nil {
		return Record{}, fmt.Errorf("the output of the program cannot be read at %d: %w", o.at, err)
	}
	said.End = o.at
	return said, nil
}

// Close closes the output.
func (o *Output) Close() {
	if o.file != nil {
		_ = o.file.Close()
		o.file = nil
	}
}

// Taken removes the output up to the end of a record, so that the program may print more.
func (k *Kept) Taken(until int64) error {
	starts, err := k.segments()
	if err != nil {
		return err
	}
	for i := 1; i < len(starts) && starts[i] <= until; i++ {
		if err := os.Remove(k.path(segmentName(starts[i-1]))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// segments returns the offsets of the segments that are there, in order.
func (k *Kept) segments() (starts []int64, err error) {
	entries, err := os.ReadDir(string(k.folder))
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

// How long to wait before looking again: ever longer while nothing happens.
const shortest, longest = 5 * time.Millisecond, 100 * time.Millisecond

// wait waits, and returns how long to wait the next time.
func wait(ctx context.Context, d time.Duration) (next time.Duration, err error) {
	select {
	case <-time.After(d):
		return min(2*d, longest), nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
