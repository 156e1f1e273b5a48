package meter_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
)

// place tells fields apart by a name in the context.
type place struct{}

type field struct{}

func (place) Key(ctx context.Context) any     { return ctx.Value(field{}) }
func (place) Path(ctx context.Context) string { return ctx.Value(field{}).(string) }

func at(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, field{}, name)
}

func TestWorkIsTakenUpToItsLimit(t *testing.T) {
	t.Parallel()
	m := meter.New(meter.Limits{Cost: 100}, 40, place{})
	ctx := meter.With(t.Context(), m)
	if err := meter.Spend(at(ctx, "a.b"), meter.Leaves, 20); err != nil || m.Cost() != 50 {
		t.Errorf("%v, cost %d", err, m.Cost())
	}
	if !meter.HasRoom(ctx, meter.Leaves, 100) || meter.HasRoom(ctx, meter.Leaves, 101) {
		t.Error("there is room for 100 leaves and no more")
	}
	if err := meter.Spend(at(ctx, "a.c"), meter.Inputs, 50*1024/6); err != nil || m.Cost() != 100 {
		t.Errorf("at the limit: %v, cost %d", err, m.Cost())
	}
	err := meter.Spend(at(ctx, "a.b"), meter.Leaves, 1)
	want := `The operation is over the limit "cost" (--max-cost): at most 100, and it came to more while it ran. Most of it, 50, is a.c, ` +
		`which counts 6 for each KiB of inputs and values, with what their defaults add to each item. Ask for less in one operation, or in smaller pages.`
	if !fault.Is(err, fault.DocumentLimitExceeded) || !strings.HasSuffix(err.Error(), want) || m.Cost() != 100 {
		t.Errorf("%v, cost %d", err, m.Cost())
	}
	// It stays over, whatever is asked.
	if err := meter.Err(ctx); !fault.Is(err, fault.DocumentLimitExceeded) {
		t.Error(err)
	}
}

func TestWorkThatWasCountedTooHighIsTakenOff(t *testing.T) {
	t.Parallel()
	m := meter.New(meter.Limits{Cost: 100}, 90, nil)
	m.Add(t.Context(), meter.Fields, -60)
	m.Add(t.Context(), meter.Fields, 69.91)
	if m.Cost() != 100 || m.Over() != nil {
		t.Errorf("cost %d, %v", m.Cost(), m.Over())
	}
	m.Add(t.Context(), meter.Fields, 0.1)
	if m.Over() == nil {
		t.Error("a hundred and a little is not over")
	}
}

func TestBytesAreHeldToTheLimitWhereTheyArise(t *testing.T) {
	t.Parallel()
	for _, stage := range []meter.Stage{meter.Made, meter.Taken, meter.Written} {
		m := meter.New(meter.Limits{Answer: 1000}, 0, place{})
		ctx := meter.With(t.Context(), m)
		if err := errors.Join(meter.Answer(at(ctx, "a"), stage, 300), meter.Answer(at(ctx, "b"), stage, 700)); err != nil {
			t.Error(err)
		}
		err := meter.Answer(at(ctx, "a"), stage, 1)
		e, _ := errors.AsType[*fault.Error](err)
		if e == nil || e.Code != fault.RequestAnswerTooLarge || e.Metadata["path"] != "b" || e.Metadata["value"] != 1000 {
			t.Errorf("stage %d: %v", stage, err)
		}
	}
	// The stages are of the same bytes.
	m := meter.New(meter.Limits{Answer: 1000}, 0, nil)
	ctx := meter.With(t.Context(), m)
	for _, stage := range []meter.Stage{meter.Made, meter.Taken, meter.Written} {
		if err := meter.Answer(ctx, stage, 1000); err != nil {
			t.Error(err)
		}
	}
	if m.Write(ctx, 1) || m.Over() == nil {
		t.Error("a byte more is written")
	}
}

func TestAContextThatHasEndedEndsWork(t *testing.T) {
	t.Parallel()
	for _, counted := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		if counted {
			ctx = meter.With(ctx, meter.New(meter.Limits{}, 0, nil))
		}
		if err := errors.Join(meter.Spend(ctx, meter.Inputs, 1<<30), meter.Answer(ctx, meter.Made, 1<<30), meter.Err(ctx)); err != nil {
			t.Errorf("without limits: %v", err)
		}
		cancel()
		for _, err := range []error{meter.Spend(ctx, meter.Leaves, 1), meter.Answer(ctx, meter.Made, 1), meter.Err(ctx)} {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	}
}

func TestOnePatternIsTriedAtATimeAndNoneAfterASlowOne(t *testing.T) {
	t.Parallel()
	ctx := meter.With(t.Context(), meter.New(meter.Limits{}, 0, nil))
	running, tried := 0, 0 // no lock: the race detector tells when two run at once
	var done sync.WaitGroup
	for range 50 {
		done.Go(func() {
			meter.TryPattern(ctx, func(int) (int, bool) {
				running++
				if tried++; running != 1 {
					t.Error("two at once")
				}
				running--
				return 0, tried == 3
			})
		})
	}
	done.Wait()
	if tried != 3 || meter.TryPattern(ctx, func(int) (int, bool) { return 0, false }) {
		t.Errorf("%d were tried", tried)
	}
}

func TestPatternsTakeWhatIsLeftOfTheirStepsAndAreChargedForBesideTheCost(t *testing.T) {
	t.Parallel()
	m := meter.New(meter.Limits{Cost: 100}, 40, nil)
	ctx := meter.With(t.Context(), m)
	whole := 0
	meter.CompilePattern(ctx, func(steps int) int {
		whole = steps
		return 24_000
	})
	for _, taken := range []int{24_000, 2_400_000} {
		if !meter.TryPattern(ctx, func(steps int) (int, bool) {
			if want := whole - taken; taken == 24_000 && steps != want {
				t.Errorf("%d steps are left, want %d", steps, want)
			}
			return taken, false
		}) {
			t.Error("a pattern is not tried")
		}
	}
	if m.Cost() != 40 || m.Charge() != 40+20+1_000 || m.Over() != nil {
		t.Errorf("cost %d, charge %d, %v", m.Cost(), m.Charge(), m.Over())
	}
	meter.TryPattern(ctx, func(steps int) (int, bool) { return steps, true })
	meter.CompilePattern(ctx, func(steps int) int {
		if steps != 0 {
			t.Errorf("%d steps are left", steps)
		}
		return 0
	})
	if want := 40 + whole/2_400; m.Charge() != want {
		t.Errorf("charge %d, want %d", m.Charge(), want)
	}
}
