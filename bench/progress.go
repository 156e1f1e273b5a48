//go:build linux

package main

import (
	"fmt"
	"io"
	"time"
)

// progress tells from time to time how far a run is.
type progress struct {
	out io.Writer
	// told is when it was told last.
	told time.Time
}

// fill tells how many rows of a table were written.
func (p *progress) fill(table string, done, total int) { p.tell("fill "+table, done, total) }

// round tells what is measured now.
func (p *progress) round(request, target string, round, done, total int) {
	p.tell(fmt.Sprintf("round %d, %s, %s", round, request, target), done, total)
}

func (p *progress) tell(what string, done, total int) {
	const interval = 5 * time.Second
	if time.Since(p.told) < interval {
		return
	}
	p.told = time.Now()
	// That nobody sees how far a run is does not end it.
	_, _ = fmt.Fprintf(p.out, "%s: %d of %d\n", what, done, total)
}
