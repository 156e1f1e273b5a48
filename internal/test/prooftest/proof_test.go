// Package prooftest_test puts load, lost connections and kill -9 on whole servers, and wants what the API
// promises to hold all the same. The short form runs with the other tests; SLIPWAY_PROOF=full runs the
// full one and prints its figures.
package prooftest_test

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"slipway/internal/test/testkit"
)

func TestMain(m *testing.M) {
	if act, ok := roles(os.Args); ok {
		if err := act(); err != nil {
			log.Fatal(err)
		}
		return
	}
	code := built.Run(m)
	if testkit.Proving() {
		proved.write(os.Stdout)
	}
	os.Exit(code)
}

// seeded returns a source of chance, whose seed is logged. SLIPWAY_PROOF_SEED names one to repeat.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if given := os.Getenv("SLIPWAY_PROOF_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("SLIPWAY_PROOF_SEED: %v", err)
		}
	}
	t.Logf("SLIPWAY_PROOF_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

// figures are what the tests found out.
type figures struct {
	mu   sync.Mutex
	rows []string
}

// proved has the figures of this run.
var proved figures

// note keeps what a test that began at a time has found.
func (f *figures) note(t *testing.T, begun time.Time, format string, args ...any) {
	t.Helper()
	outcome := "held"
	if t.Failed() {
		outcome = "BROKEN"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows = append(f.rows, fmt.Sprintf("%s\t%s\t%s\t%s", t.Name(), outcome, time.Since(begun).Round(10*time.Millisecond), fmt.Sprintf(format, args...)))
}

func (f *figures) write(out io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\nproof\t\ttime\tfigures")
	for _, row := range f.rows {
		_, _ = fmt.Fprintln(table, row)
	}
	_ = table.Flush()
}
