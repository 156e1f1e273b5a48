package quota_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/edge/quota"
)

func TestBucketsOfMoreCallersThanAreKept(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	b := quota.NewBuckets(quota.Bucket{Capacity: 10, PerSecond: 1}, func() time.Time { return now })
	spend := func(caller string) error {
		_, err := b.Spend(caller, 6)
		return err
	}
	for i := range 10_001 {
		if err := spend(strconv.Itoa(i)); err != nil {
			t.Fatalf("caller %d: %v", i, err)
		}
	}
	for _, kept := range []string{"1", "10000"} {
		if err := spend(kept); !fault.Is(err, fault.RequestRateLimited) {
			t.Errorf("the bucket of caller %s is forgotten: %v", kept, err)
		}
	}
	if err := spend("0"); err != nil {
		t.Errorf("the bucket that was used least recently is kept: %v", err)
	}
	now = now.Add(2 * time.Second)
	if err := spend("10000"); err != nil {
		t.Errorf("4 were left and 2 are refilled: %v", err)
	}
}

// awaited calls Await and returns how long it took.
func awaited(t *testing.T, ctx context.Context, b *quota.Buckets, caller string, cost int) (time.Duration, error) {
	t.Helper()
	begun := time.Now()
	err := b.Await(ctx, caller, "An item", cost, 5*time.Second)
	return time.Since(begun), err
}

func TestWhatIsNotThereIsWaitedForInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := quota.NewBuckets(quota.Bucket{Capacity: 100, PerSecond: 10}, time.Now)
		if _, err := b.Spend("a", 100); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() { // the first after a second, the last after five
				if took, err := awaited(t, t.Context(), b, "a", 10); err != nil || took != time.Duration(i+1)*time.Second {
					t.Errorf("the %dth has waited %s: %v", i+1, took, err)
				}
			})
			synctest.Wait()
		}
		// One more would wait for six. It is told at once, and takes nothing.
		took, err := awaited(t, t.Context(), b, "a", 10)
		refusal, ok := errors.AsType[*fault.Error](err)
		if !ok || refusal.Code != fault.RequestRateLimited || took != 0 || !strings.HasPrefix(refusal.Message, "An item costs 10 and 0 is left of 100 (--cost-capacity);") ||
			refusal.Metadata["retryAfterSeconds"] != 6 {
			t.Errorf("after %s: %v", took, err)
		}
		if took, err := awaited(t, t.Context(), b, "another", 100); took != 0 || err != nil {
			t.Errorf("another caller, after %s: %v", took, err)
		}
		all.Wait()
		if got := b.Settle("a", 0).Left; got != 0 {
			t.Errorf("%d are left", got)
		}
	})
}

func TestWhoGivesUpWhileItWaitsGetsItBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := quota.NewBuckets(quota.Bucket{Capacity: 100, PerSecond: 10}, time.Now)
		if _, err := b.Spend("a", 100); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if took, err := awaited(t, ctx, b, "a", 50); !errors.Is(err, context.DeadlineExceeded) || took != 2*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
		if got := b.Settle("a", 0).Left; got != 20 {
			t.Errorf("%d are left, want the 20 of two seconds", got)
		}
	})
}
