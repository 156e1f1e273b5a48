package server_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/server"
)

func TestABodyThatIsAnnouncedAsTooLargeIsNotAskedFor(t *testing.T) {
	t.Parallel()
	const most = 1000
	w, s, _ := serve(t, server.Config{MaxBody: most})
	token := w.Acme.Tokens[actor.Developer]
	for _, surface := range [][2]string{{"POST", "/graphql"}, {"PATCH", "/default-value-definitions/x"}, {"POST", "/deployments/x/rollback"}} {
		method, path := surface[0], surface[1]
		_, resp := begin(t, s.URL, method, path, token, fmt.Sprintf("Content-Length: %d", most+1))
		if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(text), `"found":1001`) {
			t.Errorf("%s %s: %d %s", method, path, resp.StatusCode, text)
		}
		if _, resp := begin(t, s.URL, method, path, token, fmt.Sprintf("Content-Length: %d", most)); resp.StatusCode != http.StatusContinue {
			t.Errorf("%s %s: %d for a body of the most that it may have", method, path, resp.StatusCode)
		}
		h, resp := begin(t, s.URL, method, path, token, "Transfer-Encoding: chunked")
		if resp.StatusCode != http.StatusContinue {
			t.Errorf("%s %s: %d for a body of unknown length", method, path, resp.StatusCode)
		}
		if _, err := fmt.Fprintf(h, "%x\r\n%s\r\n0\r\n\r\n", most+1, strings.Repeat(" ", most+1)); err != nil {
			t.Fatal(err)
		}
		if resp := h.answer(t); resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s %s: %d for a body that turned out too large", method, path, resp.StatusCode)
		}
	}
}
