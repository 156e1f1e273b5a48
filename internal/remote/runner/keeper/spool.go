package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// segmentSize is the size at which a file of the output is full and the next is begun, in bytes.
	segmentSize = 128 << 10
	// maxSegments is how many files of output may wait to be reported. A program that prints more is blocked until
	// some are reported.
	maxSegments = 4
	// maxFinalSegments is how many files a program may fill that must end: it is not blocked, and lines beyond are
	// lost.
	maxFinalSegments = 12
	// segmentPrefix begins the names of the files; the offset of the first byte in the output follows.
	segmentPrefix = "output."
)

// Record is one line that a program printed.
type Record struct {
	At     time.Time `json:"at"`
	Line   string    `json:"line"`
	Stderr bool      `json:"stderr,omitempty"`
	// Cut is how many bytes the line had besides, because it was too long.
	Cut int `json:"cut,omitempty"`
	// End is the offset in the output of what follows the record.
	End int64 `json:"-"`
}

// spool writes what a program prints to files, which the runner removes when their lines are reported.
type spool struct {
	folder   folder
	watchdog *watchdog

	mu   sync.Mutex
	file *os.File
	// starts has the offsets of the files that may still exist, size is the length of the output.
	starts []int64
	size   int64
	// lost is how many lines found no room, on the disk or in the files.
	lost int
}

// segmentName returns the name of the file that begins at an offset of the output.
func segmentName(start int64) string { return fmt.Sprintf("%s%d", segmentPrefix, start) }

// segmentStart returns the offset in the name of a segment, and reports whether the name is one.
func segmentStart(name string) (start int64, ok bool) {
	digits, ok := strings.CutPrefix(name, segmentPrefix)
	start, err := strconv.ParseInt(digits, 10, 64)
	return start, ok && err == nil
}

// write writes a line with the time. It waits as long as there is no room.
func (s *spool) write(r Record) {
	r.At = s.watchdog.clock().Wall
	for !s.tryWrite(r, maxSegments) {
		select {
		case <-time.After(pollInterval):
		case <-s.watchdog.terminate:
			if !s.tryWrite(r, maxFinalSegments) {
				s.countLost()
			}
			return
		}
	}
}

// tryWrite writes a record if it has room in so many segments, and reports whether it had. A record that cannot be
// written to the file is counted as lost.
func (s *spool) tryWrite(r Record, segments int) bool {
	text, err := json.Marshal(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.openSegment(segments) {
		return false
	}
	n := 0
	if err == nil && s.file != nil {
		n, err = s.file.Write(append(text, '\n'))
	}
	s.size += int64(n)
	if err != nil || s.file == nil {
		s.lost++
		s.file = nil // nothing may follow half a record
	}
	return true
}

// openSegment opens a new segment if there is none to write to, and reports whether there may be one more.
func (s *spool) openSegment(segments int) bool {
	if s.file != nil && s.size-s.starts[len(s.starts)-1] < segmentSize {
		return true
	}

	for len(s.starts) > 0 {
		if _, err := os.Stat(s.folder.path(segmentName(s.starts[0]))); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		s.starts = s.starts[1:]
	}
	if len(s.starts) >= segments {
		return false
	}

	if s.file != nil {
		_ = s.file.Close()
	}

	var err error
	path := s.folder.path(segmentName(s.size))
	if s.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, fileMode); err != nil {
		s.file = nil
		return true
	}
	if len(s.starts) == 0 || s.starts[len(s.starts)-1] != s.size {
		s.starts = append(s.starts, s.size)
	}
	return true
}

func (s *spool) countLost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost++
}

// close ends the output, and returns how many lines of it were lost.
func (s *spool) close() (lost int) {
	if s.file != nil {
		_ = s.file.Close()
	}
	return s.lost
}
