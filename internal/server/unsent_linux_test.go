package server_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"slipway/internal/server"
)

func TestTheSystemKeepsLittleOfAnAnswerThatIsNotTaken(t *testing.T) {
	t.Parallel()
	kept := make(chan int, 1)
	s := httptest.NewUnstartedServer(server.CutStalled(50 * time.Millisecond)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n, _ := w.Write(make([]byte, large))
		kept <- n
	})))
	s.Listener = server.LimitUnsent(s.Listener)
	s.Start()
	t.Cleanup(s.Close)
	stall(t, s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := <-kept; got > 512<<10 {
		t.Errorf("%d bytes were taken by nobody", got)
	}
}
