package plan

import (
	"io"
	"slices"
)

// output is what has been written: in one buffer, and where that is long in more, so that it is not copied to ever
// longer ones.
type output struct {
	buf written
	// full are the buffers before buf, and before is how long they are together.
	full   []written
	before int
}

// end returns the position behind what was written.
func (o *output) end() int { return o.before + len(o.buf) }

// makeRoom makes room for a text if there is not enough.
func (o *output) makeRoom(length int) {
	if cap(o.buf)-len(o.buf) >= length {
		return
	}
	const long, most = 32 << 10, 1 << 20
	if len(o.buf) < long {
		o.buf = slices.Grow(o.buf, max(length, len(o.buf)))
		return
	}
	o.putAside()
	const around = 4 << 10 // names, and what is escaped
	o.buf = make(written, 0, max(length, min(o.before, most))+around)
}

// putAside has what is written next go to another buffer.
func (o *output) putAside() { o.full, o.before = append(o.full, o.buf), o.end() }

// append appends another output, which is not written to any more.
func (o *output) append(other output) {
	if other.full == nil {
		o.buf = append(o.buf, other.buf...)
		return
	}
	o.putAside()
	o.full, o.before, o.buf = append(o.full, other.full...), o.before+other.before, other.buf
}

// back takes back what was written from a position on.
func (o *output) back(to int) {
	for to < o.before {
		last := len(o.full) - 1
		o.full, o.buf = o.full[:last], o.full[last]
		o.before -= len(o.buf)
	}
	if to < o.end() {
		o.buf = o.buf[:to-o.before]
	}
}

// value is what was written from a position in the first buffer on. What it was made of is not kept with it.
type value struct {
	output
	begin int
}

// Len returns the length of the value.
func (v *value) Len() int { return v.end() - v.begin }

// MarshalGQL implements graphql.Marshaler.
func (v *value) MarshalGQL(w io.Writer) {
	begin := v.begin
	for _, b := range v.full {
		_, _ = w.Write(b[begin:])
		begin = 0
	}
	_, _ = w.Write(v.buf[begin:])
}

// written is a buffer.
type written []byte

// Write implements io.Writer.
func (b *written) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (b *written) WriteString(s string) (int, error) {
	*b = append(*b, s...)
	return len(s), nil
}
