//go:build linux

package target

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
)

// allocated is what a server has allocated since it began.
type allocated struct{ count, bytes float64 }

var (
	mallocs    = regexp.MustCompile(`(?m)^# Mallocs = (\d+)$`)
	totalAlloc = regexp.MustCompile(`(?m)^# TotalAlloc = (\d+)$`)
)

// allocations returns what the processes have allocated since they began, together.
func (s *Server) allocations(ctx context.Context) (sum allocated, err error) {
	for _, host := range s.profiles {
		a, err := allocations(ctx, host)
		if err != nil {
			return sum, err
		}
		sum.count += a.count
		sum.bytes += a.bytes
	}
	return sum, nil
}

// allocations asks for what a process has allocated: its profile of the heap ends with the runtime's own figures.
func allocations(ctx context.Context, host string) (a allocated, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/debug/pprof/heap?debug=1", nil)
	if err != nil {
		return a, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return a, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return a, err
	}
	if a.count, err = numberIn(mallocs, text); err != nil {
		return a, err
	}
	a.bytes, err = numberIn(totalAlloc, text)
	return a, err
}

func numberIn(pattern *regexp.Regexp, text []byte) (float64, error) {
	found := pattern.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("there is no line like %s in\n%.4000s", pattern, text)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
