package httpx

import (
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// MaxCompressors is how many answers are compressed at once: a compressor holds some 1.2 MB.
	MaxCompressors = 16
	// leastCompressed is from how many bytes on an answer is compressed.
	leastCompressed = 1 << 10
)

// Compress returns a middleware that compresses answers by gzip for callers that accept it. It compresses those of
// text, from 1 KiB on, and at most as many at once as there are compressors; others go out as they are, for nobody
// waits for one. Streams of events are never compressed.
//
// A compressed answer is another representation, with an entity tag of its own: that of the handler with "-gzip" inside
// its quotes. Handlers never see such tags, for they are taken off the request's conditions. An answer that a handler
// has compressed by itself is treated alike.
//
// Lengths tell no secret: a page of another site cannot send a request with a token, for no browser adds Authorization.
func Compress(compressors int) func(http.Handler) http.Handler {
	places := make(chan struct{}, compressors)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			if h["Vary"] == nil {
				h["Vary"] = varyEncoding[:1:1] // who adds to it copies it
			} else {
				h.Add("Vary", varyEncoding[0])
			}

			accepted := AcceptsGzip(r.Header)
			named := r.Header["If-None-Match"]
			r = withPlainTags(r, accepted)
			if !accepted {
				next.ServeHTTP(w, r)
				return
			}

			c := &compressed{ResponseWriter: w, places: places, isHead: r.Method == http.MethodHead, named: named}
			defer c.leave()
			next.ServeHTTP(c, r)
			c.end()
		})
	}
}

var varyEncoding = []string{"Accept-Encoding"}

// tagEnd is the end of the entity tag of what is compressed.
const tagEnd = `-gzip"`

// compressedTag returns the entity tag of the compressed representation of what has a tag. A text without quotes is no
// tag, and is left as it is.
func compressedTag(tag string) string {
	if opaque, ok := strings.CutSuffix(tag, `"`); ok {
		return opaque + tagEnd
	}
	return tag
}

// withPlainTags returns a request whose conditions have the tags of handlers. That a caller has what is compressed is a
// reason not to send it again only to those who accept that; a change is of the record, whatever form it was read in.
func withPlainTags(r *http.Request, accepted bool) *http.Request {
	names := []string{"If-Match", "If-None-Match"}
	if !accepted {
		names = names[:1]
	}
	copied := false
	for _, name := range names {
		for i, value := range r.Header[name] {
			if !strings.Contains(value, tagEnd) {
				continue
			}
			if !copied {
				r, copied = r.WithContext(r.Context()), true
				r.Header = r.Header.Clone()
			}
			r.Header[name][i] = strings.ReplaceAll(value, tagEnd, `"`)
		}
	}
	return r
}

// compressed writes an answer by gzip, if that turns out to be worth it.
type compressed struct {
	http.ResponseWriter
	places chan struct{}
	isHead bool
	// named are the tags of If-None-Match as they were sent.
	named []string

	// status is 0 until the handler has set it, and decided is whether it was passed on: it waits for the first
	// leastCompressed bytes of an answer whose length is not known, which are held.
	status  int
	decided bool
	held    []byte
	// to is nil for an answer that goes out as it is, and compressor for one to HEAD.
	to         io.Writer
	compressor *gzip.Writer
}

// Unwrap lets http.ResponseController find the connection.
func (c *compressed) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (c *compressed) WriteHeader(status int) {
	switch {
	case status < http.StatusOK:
		c.ResponseWriter.WriteHeader(status)
		return
	case c.status != 0:
		return
	}

	c.status = status
	h := c.Header()
	length, err := strconv.Atoi(h.Get("Content-Length"))

	switch {
	case status == http.StatusNotModified:
		tag := compressedTag(h.Get("ETag"))
		isTag := func(tags string) bool { return strings.Contains(tags, tag) }
		if tag != "" && slices.ContainsFunc(c.named, isTag) {
			h.Set("ETag", tag)
		}
		c.pass()
	case h.Get("Content-Encoding") == "gzip":
		c.tag()
		c.pass()
	case !isCompressible(status, h) || err == nil && length < leastCompressed:
		c.pass()
	case err == nil:
		c.compress()
	}
}

// isCompressible reports whether an answer with a status and headers may be compressed. A part of a representation is a
// part of the representation that is not compressed.
func isCompressible(status int, h http.Header) bool {
	if status == http.StatusNoContent || status == http.StatusPartialContent || h.Get("Content-Encoding") != "" {
		return false
	}
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	kind, _, _ := strings.Cut(media, "/")
	switch media {
	case "text/event-stream":
		return false
	case "application/json", "application/graphql-response+json", "image/svg+xml":
		return true
	default:
		return kind == "text"
	}
}

// tag sets the entity tag of what is compressed, if there is one.
func (c *compressed) tag() {
	if tag := c.Header().Get("ETag"); tag != "" {
		c.Header().Set("ETag", compressedTag(tag))
	}
}

// pass passes the answer on as it is.
func (c *compressed) pass() {
	c.decided = true
	c.ResponseWriter.WriteHeader(c.status)
}

var compressors = sync.Pool{New: func() any {
	// Of the API's JSON it leaves 15 to 24 %; the usual level leaves 11 to 22 %, and takes twice as long.
	w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // there is such a level
	}
	return w
}}

// compress passes the answer on compressed, or as it is where no compressor is free.
func (c *compressed) compress() {
	if c.isHead {
		c.to = io.Discard
	} else {
		select {
		case c.places <- struct{}{}:
			c.compressor, _ = compressors.Get().(*gzip.Writer)
			c.compressor.Reset(c.ResponseWriter)
			c.to = c.compressor
		default:
			c.pass()
			return
		}
	}

	h := c.Header()
	h.Set("Content-Encoding", "gzip")
	h.Del("Content-Length")
	h.Del("Accept-Ranges")
	c.tag()
	c.pass()
}

// Write implements io.Writer.
func (c *compressed) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.WriteHeader(http.StatusOK)
	}
	if !c.decided {
		if len(c.held)+len(p) < leastCompressed {
			c.held = append(c.held, p...)
			return len(p), nil
		}
		c.compress()
		if err := c.release(); err != nil {
			return 0, err
		}
	}
	return c.write(p)
}

func (c *compressed) write(p []byte) (int, error) {
	if c.to != nil {
		return c.to.Write(p)
	}
	return c.ResponseWriter.Write(p)
}

// release writes what was held.
func (c *compressed) release() error {
	held := c.held
	c.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := c.write(held)
	return err
}

// FlushError sends what was written, as http.ResponseController has it. Who flushes before there is much has little to
// send each time.
func (c *compressed) FlushError() error {
	if c.status == 0 {
		c.WriteHeader(http.StatusOK)
	}
	if !c.decided {
		c.pass()
		if err := c.release(); err != nil {
			return err
		}
	}
	if c.compressor != nil {
		if err := c.compressor.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(c.ResponseWriter).Flush()
}

// end ends the answer. That the caller has gone is no news.
func (c *compressed) end() {
	if c.status != 0 && !c.decided {
		c.pass()
		_ = c.release()
	}
	if c.compressor != nil {
		_ = c.compressor.Close()
	}
}

// leave gives the compressor back.
func (c *compressed) leave() {
	if c.compressor != nil {
		c.compressor.Reset(io.Discard)
		compressors.Put(c.compressor)
		c.compressor = nil
		<-c.places
	}
}
