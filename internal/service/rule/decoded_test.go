package rule_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"slipway/internal/base/meter"
	"slipway/internal/service/rule"
)

func TestRulesArePaidForAndReadByTheirTextHoweverOftenTheyAreRead(t *testing.T) {
	t.Parallel()
	m := meter.New(meter.Limits{Cost: 1_000_000}, 0, nil)
	ctx := meter.With(t.Context(), m)
	var all sync.WaitGroup
	for i := range 20 { // together more than is kept
		all.Go(func() {
			for range 3 {
				name := fmt.Sprint(i, strings.Repeat("n", 300<<10))
				text := fmt.Sprintf(`[{"id":"rule_a","version":1,"name":%q,"operations":["CREATE"],"demand":{"approvals":{"count":1}}}]`, name)
				list, err := rule.Decode(ctx, &text)
				if err != nil || len(list) != 1 || list[0].Name != name || list[0].Demand.Kind == nil {
					t.Errorf("%d: %v, %v", i, len(list), err)
				}
			}
		})
	}
	all.Wait()
	if cost, least := m.Cost(), 20*3*3*300; cost < least {
		t.Errorf("they cost %d, at least %d", cost, least)
	}
	wrong := "[{"
	if _, err := rule.Decode(t.Context(), &wrong); err == nil {
		t.Error("what is no JSON is read")
	}
}

func TestReadingRulesAgainAllocatesNothingForEachOfThem(t *testing.T) { //nolint:paralleltest // it counts allocations
	span := `{"days":["MONDAY","TUESDAY"],"from":"09:00","to":"17:00"}`
	one := `{"id":"rule_a","version":1,"name":"hours","operations":["CREATE"],"demand":{"hours":{"timeZone":"Europe/Berlin","spans":[` + span + `]}}}`
	text := "[" + strings.Repeat(one+",", 99) + one + "]"
	read := func() {
		if _, err := rule.Decode(t.Context(), &text); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if n := testing.AllocsPerRun(10, read); n > 10 {
		t.Errorf("100 rules that were read before take %v allocations", n)
	}
}
