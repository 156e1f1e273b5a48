package quota_test

import (
	"strconv"
	"testing"
	"time"

	"slipway/internal/fault"
	"slipway/internal/quota"
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
