//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// progress shows how far a run is: as a bar on a terminal, and elsewhere as lines.
type progress struct {
	out      *os.File
	terminal bool
	// shown is when something was shown last, what is what it was about.
	shown time.Time
	what  string
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// The times between two signs of life.
const (
	barInterval  = 100 * time.Millisecond
	lineInterval = 10 * time.Second
)

// fill shows how many rows of a table were written.
func (p *progress) fill(table string, done, total int) {
	p.show("fill "+table, done, total, done == total)
}

// round shows what is measured now.
func (p *progress) round(request, target string, round, rounds, done, total int) {
	what := fmt.Sprintf("warm-up of %s, %s", request, target)
	if round > 0 {
		what = fmt.Sprintf("round %d of %d, %s, %s", round, rounds, request, target)
	}
	p.show(what, done, total, p.terminal)
}

func (p *progress) show(what string, done, total int, always bool) {
	interval := lineInterval
	if p.terminal {
		interval = barInterval
	}
	if !always && time.Since(p.shown) < interval || what == p.what && done == total && !always {
		return
	}
	p.shown, p.what = time.Now(), what
	if !p.terminal {
		p.print(fmt.Sprintf("%s: %d of %d\n", what, done, total))
		return
	}
	const width = 30
	filled := width * done / max(total, 1)
	p.print(fmt.Sprintf("\r\x1b[K[%s%s] %d of %d, %s", strings.Repeat("=", filled), strings.Repeat(" ", width-filled), done, total, what))
	if done == total {
		p.print("\n")
	}
}

// end leaves the bar.
func (p *progress) end() {
	if p.terminal {
		p.print("\r\x1b[K")
	}
}

// print writes a text. That nobody sees how far a run is does not end it.
func (p *progress) print(text string) { _, _ = p.out.WriteString(text) }
