package meter_test

import (
	"strings"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
)

func TestJSONCountsByItsBytesAndByItsValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		``:                                    0,
		`0`:                                   meter.ValueBytes,
		`{"a":0}`:                             2 * meter.ValueBytes,
		`[0,0,0]`:                             4 * meter.ValueBytes,
		`[{},{}]`:                             5 * meter.ValueBytes,
		`"` + strings.Repeat("x", 1000) + `"`: 1002,
		`{"a":"` + strings.Repeat("x", 1000) + `"}`: 1008,
	} {
		if got, of := meter.DecodedBytes(text), meter.DecodedBytes([]byte(text)); got != want || of != want {
			t.Errorf("%.20s: %d and %d, want %d", text, got, of, want)
		}
	}
}

func TestWhatIsDecodedIsWorkOfItsRequest(t *testing.T) {
	t.Parallel()
	m := meter.New(meter.Limits{Cost: 10}, 0, nil)
	ctx := meter.With(t.Context(), m)
	if err := meter.Decode(ctx, meter.Stored, strings.Repeat("x", 1024)); err != nil || m.Cost() != 3 {
		t.Errorf("%v, cost %d", err, m.Cost())
	}
	if err := meter.Decode(meter.Without(ctx), meter.Stored, strings.Repeat("x", 1<<20)); err != nil || m.Cost() != 3 {
		t.Errorf("without: %v, cost %d", err, m.Cost())
	}
	if err := meter.Decode(ctx, meter.Inputs, strings.Repeat("x", 2048)); !fault.Is(err, fault.DocumentLimitExceeded) {
		t.Error(err)
	}
}
