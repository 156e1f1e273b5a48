package store_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// BenchmarkGroup has writers roll back at once, each its own instances, by turns with a COMMIT for each and with
// those of waiting writers grouped. It reports the medians of the rollbacks in a second, and the time that the disk
// takes to sync as much as one of them writes.
func BenchmarkGroup(b *testing.B) {
	for name, rollBack := range map[string]func(*testing.B, *worldtest.World, string) error{
		"service": rollBackByService, "http": rollBackOverHTTP,
	} {
		for _, writers := range []int{1, 4, 16} {
			b.Run(fmt.Sprint(name, "/", writers), func(b *testing.B) {
				grouped := worldtest.New(b, worldtest.SQLite(b))
				single := worldtest.New(b, worldtest.SQLite(b), store.MaxGroupMembers(1))
				worlds := []*worldtest.World{single, grouped}
				rates := make([][]float64, len(worlds))
				var sources [][]string
				for _, w := range worlds {
					sources = append(sources, rollbackSources(b, w, 4*writers))
				}
				var syncs []float64
				for b.Loop() {
					for i, w := range worlds {
						begun := time.Now()
						atOnce(b, sources[i], writers, func(source string) error { return rollBack(b, w, source) })
						rates[i] = append(rates[i], float64(len(sources[i]))/time.Since(begun).Seconds())
						cancelAll(b, w)
					}
					syncs = append(syncs, syncTime(b))
				}
				before, after := median(rates[0]), median(rates[1])
				b.ReportMetric(before, "single/s")
				b.ReportMetric(after, "grouped/s")
				b.ReportMetric(after/before, "grouped/single")
				b.ReportMetric(median(syncs), "sync-µs")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func rollBackByService(_ *testing.B, w *worldtest.World, source string) error {
	_, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: source})
	return err
}

// keptAlive keeps a connection for each writer.
var keptAlive = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

func rollBackOverHTTP(b *testing.B, w *worldtest.World, source string) error {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, w.URL+"/deployments/"+source+"/rollback", http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+w.Acme.Tokens[actor.Developer])
	answer, err := keptAlive.Do(r)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("answered with %s", answer.Status)
	}
	_, end := io.Copy(io.Discard, answer.Body)
	return errors.Join(err, end, answer.Body.Close())
}

// rollbackSources makes instances with a deployment each that can be rolled back to.
func rollbackSources(b *testing.B, w *worldtest.World, n int) []string {
	b.Helper()
	f := w.Fixture(b, w.Acme, "web")
	sources := make([]string, n)
	for i := range sources {
		d := f.Deploy(b, f.NewInstance(b, fmt.Sprint("i", i)).ID, `{"image":"web:1.4.2"}`)
		sources[i] = f.Finish(b, d, nil).ID
	}
	return sources
}

// atOnce calls f with each source, by so many writers at once.
func atOnce(b *testing.B, sources []string, writers int, f func(source string) error) {
	b.Helper()
	var all sync.WaitGroup
	for own := range slices.Chunk(sources, len(sources)/writers) {
		all.Go(func() {
			for _, source := range own {
				if err := f(source); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// cancelAll ends what is active, so that the same can be rolled back again.
func cancelAll(b *testing.B, w *worldtest.World) {
	b.Helper()
	db := w.Raw(b, w.Acme)
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(b.Context(), "UPDATE deployments SET status = 'CANCELED', completed_at = updated_at WHERE completed_at IS NULL"); err != nil {
		b.Fatal(err)
	}
}

// syncTime returns how many microseconds a sync takes of a file that some pages were written to.
func syncTime(b *testing.B) float64 {
	b.Helper()
	const pages = 25 << 12
	f, err := os.Create(filepath.Join(b.TempDir(), "sync"))
	if err == nil {
		_, err = f.Write(make([]byte, pages))
	}
	begun := time.Now()
	if err == nil {
		err = f.Sync()
	}
	took := time.Since(begun)
	if err != nil {
		b.Fatal(err)
	}
	_ = f.Close()
	return float64(took.Microseconds())
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
