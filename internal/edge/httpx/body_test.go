package httpx_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"slipway/internal/base/fault"
	"slipway/internal/edge/httpx"
)

func TestAContentTypeHasAMediaTypeAndACharset(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]struct {
		media  string
		inUTF8 bool
	}{
		"":                                  {"", false},
		"application/json":                  {"application/json", true},
		"Application/JSON; Charset=UTF-8":   {"application/json", true},
		"application/json; charset=latin1":  {"application/json", false},
		"application/json; charset":         {"application/json", false},
		"application/x-www-form-urlencoded": {"application/x-www-form-urlencoded", true},
		"a/b/c":                             {"", false},
	} {
		media, inUTF8 := httpx.ContentType(http.Header{"Content-Type": {header}})
		if media != want.media || inUTF8 != want.inUTF8 {
			t.Errorf("%q: %q %t, want %v", header, media, inUTF8, want)
		}
	}
}

func TestAnEncodedBodyIsRefused(t *testing.T) {
	t.Parallel()
	for encoding, want := range map[string]fault.Code{"": "", "identity": "", "Identity": "", "gzip": fault.RequestUnsupportedMedia, "identity, br": fault.RequestUnsupportedMedia} {
		w := httptest.NewRecorder()
		got := codeOf(httpx.CheckEncoding(w, http.Header{"Content-Encoding": {encoding}}))
		if got != want || (w.Header().Get("Accept-Encoding") == "identity") != (want != "") {
			t.Errorf("%q: %s, want %s; %v", encoding, got, want, w.Header())
		}
	}
	twice := http.Header{"Content-Encoding": {"identity", "gzip"}}
	if got := codeOf(httpx.CheckEncoding(httptest.NewRecorder(), twice)); got != fault.RequestUnsupportedMedia {
		t.Errorf("gzip in a second header: %q", got)
	}
}

func TestABodyIsReadUpToItsLimit(t *testing.T) {
	t.Parallel()
	broken := io.MultiReader(strings.NewReader("12"), iotest.ErrReader(io.ErrUnexpectedEOF))
	for name, c := range map[string]struct {
		body   io.Reader
		length int64
		want   string
		code   fault.Code
	}{
		"none":                         {strings.NewReader(""), 0, "", ""},
		"as long as it may be":         {strings.NewReader("1234"), 4, "1234", ""},
		"the same, length not known":   {strings.NewReader("1234"), -1, "1234", ""},
		"longer, and announced so":     {iotest.ErrReader(errors.New("read")), 5, "", fault.RequestTooLarge},
		"longer, and not announced so": {strings.NewReader("12345"), -1, "1234", fault.RequestTooLarge},
		"cut off":                      {broken, -1, "12", fault.RequestMalformed},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", c.body)
		r.ContentLength = c.length
		body, err := httpx.ReadBody(httptest.NewRecorder(), r, 4)
		if string(body) != c.want || codeOf(err) != c.code {
			t.Errorf("%s: %q %v, want %q %s", name, body, err, c.want, c.code)
		}
	}
}

// codeOf returns the code of a fault, empty for no error.
func codeOf(err error) fault.Code {
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		return refusal.Code
	}
	return ""
}
