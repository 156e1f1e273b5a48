package stream

import (
	"context"
	"net/http"
	"time"

	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
)

// MaxWait is how long a request may wait for something to happen.
const MaxWait = 30 * time.Second

// Wait waits, for a request that is being executed, until changed has an item, and reports whether it has. It returns
// false when the time is over or the server shuts down: what there is then is the answer. Meanwhile the request is an
// open stream of its caller, and holds neither its turn nor its place among the requests in flight. The header is the
// request's, by which its caller is authenticated again from time to time. The errors are that of a caller who is no
// longer welcome, that of too many streams, and RequestTimeout if the context ends.
func (s *Streams) Wait(
	ctx context.Context, header http.Header, atMost time.Duration, changed <-chan struct{},
) (bool, error) {
	if err := s.begin(); err != nil {
		return false, nil // to answer at once is what a shutdown needs
	}
	defer s.serving.Done()
	leave, err := s.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()

	caller := httpx.Caller(ctx)
	s.Requests.Lend(caller.Key)
	s.Turns.Leave()
	defer s.Requests.TakeBack(caller.Key)
	defer s.Turns.TakeBack(ctx, caller)

	over, recheck := time.NewTimer(atMost), time.NewTicker(s.Recheck)
	defer over.Stop()
	defer recheck.Stop()
	request := (&http.Request{Header: header}).WithContext(ctx)
	for {
		select {
		case <-changed:
			return true, nil
		case <-over.C:
			return false, nil
		case <-s.draining.Done():
			return false, nil
		case <-ctx.Done():
			return false, wire.Timeout(ctx.Err())
		case <-recheck.C:
			if err := s.checkCaller(request); err != nil {
				return false, err
			}
		}
	}
}
