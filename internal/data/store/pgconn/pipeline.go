package pgconn

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"reflect"
	"time"
	"unsafe"

	"github.com/lib/pq"
)

// pipeline is the network as lib/pq sees it. It sends the begin of a transaction together with the first statement,
// and COMMIT together with the last, so that neither takes a round trip of its own.
//
// The begin goes as messages of the extended protocol without a Sync of their own: if the server refuses it, it
// passes over everything up to the Sync of the statement, and its error is the statement's. COMMIT goes after that
// Sync; if the statement has failed, the server carries it out as a ROLLBACK.
type pipeline struct {
	net.Conn
	// in reads from the network, and above what lib/pq reads of the pipeline.
	in, above *bufio.Reader
	// out is what is sent together.
	out []byte

	// begin is what is to go before the next statement, or nil.
	begin *begin
	// names has those first statements of a transaction that the server has prepared, with their names. It is nil where
	// none are to be.
	names map[string]string
	// naming is a first statement that is being prepared.
	naming string
	// awaited is how many of the messages that answer begin are still to come. They are not lib/pq's.
	awaited int
	// others are messages that came among these and are lib/pq's.
	others []byte
	// began is the time that the first statement of the transaction has returned.
	began time.Time
	// refused is set if the server has refused begin.
	refused bool

	// commit has COMMIT go after the next statement.
	commit bool
	// ended is set where COMMIT was sent and lib/pq has not asked for it yet.
	ended bool
}

// begin is the begin of a transaction.
type begin struct {
	// mode is the text of BEGIN.
	mode string
	// first is a statement that runs in it and returns one row, which begins with a time. It is empty if there is none.
	first string
	args  []string
}

// maxNames is how many first statements are prepared at most. There are as many as their caller has texts of them.
const maxNames = 8

// errMessage is returned for a message of lib/pq's that is none of those which may come.
var errMessage = errors.New("pgconn: an unexpected message")

// newPipeline puts a pipeline between a connection of lib/pq's and the network. lib/pq has no place for one above TLS,
// so two of its fields are set from here. They are checked, because another version of it may have others.
func newPipeline(made any) (*pipeline, error) {
	v := reflect.Indirect(reflect.ValueOf(made))
	network, buffer := v.FieldByName("c"), v.FieldByName("buf")
	if !network.IsValid() || network.Type() != reflect.TypeFor[net.Conn]() ||
		!buffer.IsValid() || buffer.Type() != reflect.TypeFor[*bufio.Reader]() {
		return nil, fmt.Errorf("pgconn: lib/pq's connection is a %T without the fields of one", made)
	}
	conn := (*net.Conn)(unsafe.Pointer(network.UnsafeAddr()))       //nolint:gosec // its type was checked
	reader := (**bufio.Reader)(unsafe.Pointer(buffer.UnsafeAddr())) //nolint:gosec // its type was checked
	p := &pipeline{Conn: *conn, in: *reader, names: map[string]string{}}
	p.above = bufio.NewReader(p)
	*conn, *reader = p, p.above
	return p, nil
}

// Messages of the protocol: a letter, the length of what follows with itself, and what follows.
const (
	header  = 5
	sync    = "S\x00\x00\x00\x04"
	execute = "E\x00\x00\x00\x09\x00\x00\x00\x00\x00"
	commit  = "Q\x00\x00\x00\x0bCOMMIT\x00"
)

// appendBegin appends the messages of a begin and counts their answers: that a statement was parsed, bound and run, and
// the one row.
func (p *pipeline) appendBegin(b []byte, o *begin) []byte {
	b = appendParse(b, "", o.mode)
	b = appendBind(b, "", nil)
	b = append(b, execute...)
	p.awaited = 3
	if o.first == "" {
		return b
	}
	name, named := p.names[o.first]
	if !named {
		if p.names != nil && len(p.names) < maxNames {
			name, p.naming = nameOf(o.first), o.first
		}
		b = appendParse(b, name, o.first)
		p.awaited++
	}
	b = appendBind(b, name, o.args)
	p.awaited += 3
	return append(b, execute...)
}

// nameOf returns the name that a first statement is prepared by. Another text has another name, so that none can run in
// the place of another, whoever has prepared it.
func nameOf(text string) string {
	hash := fnv.New128a()
	_, _ = hash.Write([]byte(text)) // never fails
	return "begin" + hex.EncodeToString(hash.Sum(nil))
}

// appendParse appends the message that has the server parse a statement.
func appendParse(b []byte, name, text string) []byte {
	b = appendHeader(b, 'P', len(name)+1+len(text)+1+2)
	b = append(b, name...)
	b = append(b, 0)
	b = append(b, text...)
	return append(b, 0, 0, 0) // none of its arguments has a given type
}

// appendBind appends the message that gives a statement its arguments, which are texts, as the answer is.
func appendBind(b []byte, name string, args []string) []byte {
	size := 1 + len(name) + 1 + 2 + 2 + 2
	for _, arg := range args {
		size += 4 + len(arg)
	}
	b = appendHeader(b, 'B', size)
	b = append(b, 0)
	b = append(b, name...)
	b = append(b, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(len(args)))
	for _, arg := range args {
		b = binary.BigEndian.AppendUint32(b, uint32(len(arg)))
		b = append(b, arg...)
	}
	return append(b, 0, 0)
}

func appendHeader(b []byte, letter byte, size int) []byte {
	return binary.BigEndian.AppendUint32(append(b, letter), uint32(4+size))
}

// Write implements net.Conn. lib/pq writes all messages of a statement at once.
func (p *pipeline) Write(b []byte) (int, error) {
	const terminate, query = 'X', 'Q'
	switch {
	case b[0] == terminate || p.begin == nil && !p.commit && !p.ended:
		return p.Conn.Write(b)
	case p.ended && b[0] == query: // its COMMIT, or its ROLLBACK where the last statement has failed
		p.ended = false
		return len(b), nil
	case p.ended || !bytes.HasSuffix(b, []byte(sync)):
		return 0, errMessage
	}

	p.out = p.out[:0]
	if p.begin != nil {
		p.out = p.appendBegin(p.out, p.begin)
		p.begin = nil
	}
	p.out = append(p.out, b...)

	// Before a statement is run, it may be prepared.
	if p.commit && bytes.HasSuffix(b, []byte(execute+sync)) {
		p.commit, p.ended = false, true
		p.out = append(p.out, commit...)
	}

	n, err := p.Conn.Write(p.out)
	if cap(p.out) > maxText {
		p.out = nil
	}
	// That nothing was sent, after which lib/pq says that the statement may be sent again, is the one thing to know.
	return min(n, len(b)), err
}

// Read implements net.Conn.
func (p *pipeline) Read(b []byte) (int, error) {
	for p.awaited > 0 {
		if err := p.readAnswer(); err != nil {
			return 0, err
		}
	}
	if len(p.others) > 0 {
		n := copy(b, p.others)
		p.others = p.others[n:]
		return n, nil
	}
	return p.in.Read(b)
}

// readAnswer reads one of the messages that answer a begin. An error stays where it is: it answers the statement.
func (p *pipeline) readAnswer() error {
	start, err := p.in.Peek(header)
	if err != nil {
		return err
	}

	const parsed, bound, row, completed, refusal = '1', '2', 'D', 'C', 'E'
	letter := start[0]
	if letter == refusal {
		p.awaited, p.refused, p.naming = 0, true, ""
		return nil
	}

	// The longest are of the server's own: a notice, or a setting that has changed.
	const longest = 1 << 16
	size := binary.BigEndian.Uint32(start[1:])
	if size < 4 || size > longest {
		return errMessage
	}
	message := make([]byte, 1+size)
	if _, err := io.ReadFull(p.in, message); err != nil {
		return err
	}

	switch letter {
	case parsed, bound, completed:
		p.awaited--
	case row:
		p.awaited--
		var text string
		if text, err = firstValue(message[header:]); err == nil {
			p.began, err = pq.ParseTimestamp(time.UTC, text)
		}
	default:
		p.others = append(p.others, message...)
	}

	if p.awaited == 0 && p.naming != "" {
		p.names[p.naming], p.naming = nameOf(p.naming), ""
	}
	return err
}

// skipRows passes over the rest of the rows of an answer without holding any of them. lib/pq reads what follows, and
// what fails here.
func (p *pipeline) skipRows() {
	const row = 'D'
	for {
		start, err := p.above.Peek(header)
		if err != nil || start[0] != row {
			return
		}
		if _, err := p.above.Discard(1 + int(binary.BigEndian.Uint32(start[1:]))); err != nil {
			return
		}
	}
}

// firstValue returns the first value of a row.
func firstValue(row []byte) (string, error) {
	const counts = 2 + 4 // of the values, and of the bytes of the first
	if len(row) < counts {
		return "", errMessage
	}
	n := binary.BigEndian.Uint32(row[2:])
	if uint64(n) > uint64(len(row)-counts) {
		return "", errMessage
	}
	return string(row[counts : counts+n]), nil
}
