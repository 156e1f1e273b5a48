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
	// segmentSize is how large a file of the output grows before the next is begun, in bytes.
	segmentSize = 128 << 10
	// maxSegments is how many files of output may wait to be reported: a program that prints more is held up.
	// One that is to end is not, up to maxLast files; what is over that is lost, and the output ends with how
	// much.
	maxSegments, maxLast = 4, 12
	// segmentPrefix begins the names of these files; the offset of their first byte in the output follows.
	segmentPrefix = "output."
)

// Record is one line of a program.
type Record struct {
	At     time.Time `json:"at"`
	Line   string    `json:"line"`
	Stderr bool      `json:"stderr,omitempty"`
	// End is the offset in the output after the record.
	End int64 `json:"-"`
}

// spool keeps what a program prints in files, which the runner removes once their lines are reported.
type spool struct {
	folder folder
	guard  *guard

	mu   sync.Mutex
	file *os.File
	// starts are the offsets of the files that may still be there, size is how many bytes there are in all.
	starts []int64
	size   int64
	lost   int
}

func segmentName(start int64) string { return fmt.Sprintf("%s%d", segmentPrefix, start) }

// segmentStart reads the offset in the name of a segment.
func segmentStart(name string) (start int64, ok bool) {
	digits, ok := strings.CutPrefix(name, segmentPrefix)
	start, err := strconv.ParseInt(digits, 10, 64)
	return start, ok && err == nil
}

// line keeps a line that says something. Where there is no room a line of standard output waits, and one
// of standard error is left out.
func (s *spool) line(text string, stderr bool) {
	if strings.TrimSpace(text) == "" {
		return
	}
	said := Record{At: s.guard.clock().Wall, Line: text, Stderr: stderr}
	for !s.add(said, maxSegments) {
		if stderr {
			return
		}
		select {
		case <-time.After(look):
		case <-s.guard.stop:
			if !s.add(said, maxLast) {
				s.lose()
			}
			return
		}
	}
}

// add writes a record where there is room among so many segments, and reports whether it need not be
// tried again.
func (s *spool) add(said Record, segments int) bool {
	text, err := json.Marshal(said)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.room(segments) {
		return false
	}
	n := 0
	if err == nil && s.file != nil {
		n, err = s.file.Write(append(text, '\n'))
	}
	s.size += int64(n)
	if err != nil || s.file == nil {
		s.lost++
		s.file = nil // half a record must be the last of its file
	}
	return true
}

// room makes sure that there is a segment to write to, and reports whether there may be one.
func (s *spool) room(segments int) bool {
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
	if s.file, err = os.OpenFile(s.folder.path(segmentName(s.size)), os.O_CREATE|os.O_WRONLY|os.O_APPEND, fileMode); err != nil {
		s.file = nil
		return true
	}
	if len(s.starts) == 0 || s.starts[len(s.starts)-1] != s.size {
		s.starts = append(s.starts, s.size)
	}
	return true
}

func (s *spool) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost++
}

// close ends the output, with how many lines are missing from it.
func (s *spool) close() {
	if s.lost > 0 {
		s.add(Record{At: s.guard.clock().Wall, Line: fmt.Sprintf("%d lines of the program's output are lost.", s.lost)}, maxLast+1)
	}
	if s.file != nil {
		_ = s.file.Close()
	}
}
