//go:build linux

package target

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"slipway/bench/requests"
)

// Oldest asks for the cursors behind which the last pages of environments begin.
func (s *Server) Oldest(ctx context.Context, environments []int) (requests.Oldest, error) {
	cursors := requests.Oldest{}
	for _, e := range environments {
		kind, call := requests.FindOldest(e)
		text, err := kind.HTTP(s.hosts[0], call)
		if err != nil {
			return nil, err
		}
		if cursors[e], err = s.oldest(ctx, text); err != nil {
			return nil, fmt.Errorf("the oldest deployments of environment %d: %w", e, err)
		}
	}
	return cursors, nil
}

func (s *Server) oldest(ctx context.Context, text []byte) (string, error) {
	request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
	if err != nil {
		return "", err
	}
	request.RequestURI, request.URL.Scheme, request.URL.Host = "", "http", s.hosts[0]
	answer, err := http.DefaultClient.Do(request.WithContext(ctx))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	return requests.ReadOldest(body)
}
