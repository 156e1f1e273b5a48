package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"slipway/internal/server"
)

// An http.Server says of small answers how long they are, and GraphQL of the others, if they are not compressed.
func TestEveryAnswerOfGraphQLSaysHowLongItIs(t *testing.T) {
	t.Parallel()
	_, s, _ := serve(t, server.Config{})
	for _, size := range []int{1, 1978, 1979, 1980, 1981, 1982, 2100, 4000, 6000} {
		query := fmt.Sprintf("{ %s: __typename }", strings.Repeat("a", size))
		path := "/graphql?query=" + url.QueryEscape(query)
		posted, text := send(t, "POST", s.URL+"/graphql", fmt.Sprintf(`{"query":%q}`, query), "Content-Type", "application/json")
		got, same := send(t, "GET", s.URL+path, "")
		head, nothing := send(t, "HEAD", s.URL+path, "")
		for _, length := range []int64{posted.ContentLength, got.ContentLength, head.ContentLength} {
			if length != int64(len(text)) || len(text) < size || same != text || nothing != "" {
				t.Errorf("a name of %d: an answer of %d bytes says %d", size, len(text), length)
			}
		}
	}
}
