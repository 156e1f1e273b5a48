package jsregexp_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"slipway/internal/base/jsregexp"
)

func TestAnEngineNeedsAMachine(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, -1} {
		if _, err := jsregexp.New(size); err == nil {
			t.Errorf("New(%d) succeeded", size)
		}
	}
}

func TestTextAndPatternAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	for _, c := range []struct{ pattern, text string }{
		{"^\x00$", "\x00"}, {`^a\0b$`, "a\x00b"}, {"^\"'`$", "\"'`"}, {"^\n$", "\n"}, {"^\u2028$", "\u2028"}, {`^\${x}$`, "${x}"},
		{`^"\);throw 1;\("$`, `");throw 1;("`}, {"^.{2}$", "😀"}, {"😀+", "😀"}, {"^[é-ê]$", "é"}, {"^/$", "/"}, {`^\/$`, "/"},
	} {
		if got, err := test(t, e, c.pattern, c.text); !got || err != nil {
			t.Errorf("Test(%q, %q) = %t, %v, want true", c.pattern, c.text, got, err)
		}
	}
}

func TestProgramsAreKeptUpToABoundOfBytes(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	large := strings.Repeat(`\W`, 8_000)
	fullest := 0
	for i := range 200 {
		pattern := fmt.Sprintf("^(?:x%d|%s)$", i, large)
		if got, err := test(t, e, pattern, fmt.Sprintf("x%d", i)); !got || err != nil {
			t.Fatalf("Test of pattern %d = %t, %v, want true", i, got, err)
		}
		bytes, most := e.CachedBytes()
		if fullest = max(fullest, bytes); bytes > most {
			t.Fatalf("%d bytes are kept after pattern %d, at most %d may be", bytes, i, most)
		}
	}
	for i := range 700 {
		if got, err := test(t, e, fmt.Sprintf("^x%d$", i%400), fmt.Sprintf("x%d", i)); got != (i < 400) || err != nil {
			t.Fatalf("Test of small pattern %d = %t, %v, want %t", i%400, got, err, i < 400)
		}
	}
	if _, most := e.CachedBytes(); fullest < most/2 {
		t.Errorf("%d bytes were kept, of %d", fullest, most)
	}
}

func TestManyAtOnceEachGetTheirOwnAnswer(t *testing.T) {
	t.Parallel()
	e := engine(t, 2)
	var all sync.WaitGroup
	for g := range 64 {
		all.Go(func() {
			for i := range 50 {
				pattern := fmt.Sprintf(`^%d-\d+$`, (g+i)%20)
				got, err := test(t, e, pattern, fmt.Sprintf("%d-%d", g%20, i))
				if want := i%20 == 0; got != want || err != nil {
					t.Errorf("Test(%q) of %d = %t, %v, want %t", pattern, g, got, err, want)
				}
			}
		})
	}
	all.Wait()
}

func TestAPatternThatHangsHoldsNobodyUpForLong(t *testing.T) {
	t.Parallel()
	e := engine(t, 2)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := test(t, e, hang, hung); !errors.Is(err, jsregexp.ErrTooSlow) {
				t.Errorf("Test = %v, want ErrTooSlow", err)
			}
		})
	}
	for range 16 {
		all.Go(func() {
			if got, err := test(t, e, `^a+$`, "aaa"); !got || err != nil {
				t.Errorf("Test = %t, %v, want true", got, err)
			}
		})
	}
	all.Wait()
}

func TestWhoWaitsTooLongIsToldThatTheEngineIsBusy(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	var all sync.WaitGroup
	outcomes := make(chan error, 300)
	for range cap(outcomes) {
		all.Go(func() {
			_, err := test(t, e, hang, hung)
			outcomes <- err
		})
	}
	all.Wait()
	close(outcomes)
	busy, slow := 0, 0
	for err := range outcomes {
		switch {
		case errors.Is(err, jsregexp.ErrBusy):
			busy++
		case errors.Is(err, jsregexp.ErrTooSlow):
			slow++
		default:
			t.Errorf("Test = %v", err)
		}
	}
	if slow == 0 || busy < cap(outcomes)/2 {
		t.Errorf("%d were too slow and %d found the engine busy", slow, busy)
	}
}

func TestWhoGivesUpWaitingGetsTheReasonOfItsContext(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := e.Test(ctx, "a", "a", jsregexp.MaxSteps); !errors.Is(err, context.Canceled) {
		t.Errorf("Test = %v, want context.Canceled", err)
	}
	if _, err := e.Warnings(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("Warnings = %v, want context.Canceled", err)
	}
}

func TestAClosedEngineRefusesToWork(t *testing.T) {
	t.Parallel()
	e, err := jsregexp.New(2)
	if err != nil {
		t.Fatal(err)
	}
	if err := compile(t, e, "a"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		e.Close()
	}
	if err := compile(t, e, "a"); !errors.Is(err, jsregexp.ErrClosed) {
		t.Errorf("Compile = %v, want ErrClosed", err)
	}
}

func TestNothingIsLeftRunning(t *testing.T) { //nolint:paralleltest // it counts goroutines
	before := runtime.NumGoroutine()
	for range 5 {
		e, err := jsregexp.New(2)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := test(t, e, hang, hung); !errors.Is(err, jsregexp.ErrTooSlow) {
			t.Fatalf("Test = %v, want ErrTooSlow", err)
		}
		e.Close()
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}
