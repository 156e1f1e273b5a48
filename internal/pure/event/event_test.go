package event_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/pure/event"
)

func step(n, bytes int) event.Event {
	return event.Event{
		CurrentStep: new(int32(n)),
		StartedAt:   new(fmt.Sprintf("2026-03-01T10:00:00.%09dZ", n)),
		Message:     new(strings.Repeat("m", bytes)),
	}
}

func events(from, n, bytes int) []event.Event {
	list := make([]event.Event, n)
	for i := range list {
		list[i] = step(from+i, bytes)
	}
	return list
}

func bytesOf(t *testing.T, list []event.Event) int {
	t.Helper()
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

func TestEveryTextOfAnEventIsBounded(t *testing.T) {
	t.Parallel()
	for i, member := range event.Members {
		var e event.Event
		text, ok := reflect.ValueOf(&e).Elem().Field(i).Addr().Interface().(**string)
		if !ok || member == "startedAt" { // which has a form
			continue
		}
		*text = new(strings.Repeat("x", event.MaxText))
		if got := e.Check("/e"); len(got) > 0 {
			t.Errorf("%s: %v", member, got)
		}
		**text += "x"
		if got := e.Check("/e"); len(got) != 1 || got[0].Pointer != "/e/"+member {
			t.Errorf("%s with %d characters: %v", member, event.MaxText+1, got)
		}
	}
}

func TestEventsAreKeptUpToTheirNumber(t *testing.T) {
	t.Parallel()
	all := events(0, event.MaxCount, 10)
	kept, folded := event.Append(all[:150], 0, all[150:]...)
	if diff := cmp.Diff(all, kept); diff != "" || folded != 0 {
		t.Errorf("%d are folded: %s", folded, diff)
	}
	kept, folded = event.Append(kept, folded, step(event.MaxCount, 10))
	want := append([]event.Event{{StartedAt: all[0].StartedAt, Message: new("2 earlier events are not kept.")}}, all[2:]...)
	want = append(want, step(event.MaxCount, 10))
	if diff := cmp.Diff(want, kept); diff != "" || folded != 2 {
		t.Errorf("%d are folded: %s", folded, diff)
	}
	kept, folded = event.Append(kept, folded, events(event.MaxCount+1, 300, 10)...)
	if len(kept) != event.MaxCount || folded != 302 || *kept[0].Message != "302 earlier events are not kept." ||
		*kept[0].StartedAt != *all[0].StartedAt || *kept[1].CurrentStep != 302 {
		t.Errorf("%d kept, %d folded, first %v", len(kept), folded, kept[0])
	}
}

func TestEventsAreKeptUpToTheirBytes(t *testing.T) {
	t.Parallel()
	all := events(0, 70, 4<<10)
	kept, folded := event.Append(nil, 0, all...)
	if n := bytesOf(t, kept); folded == 0 || n > event.MaxBytes || n < event.MaxBytes-5<<10 {
		t.Errorf("%d bytes are kept, %d events folded", n, folded)
	}
	// The last is kept, however large it is.
	huge := step(1, event.MaxBytes)
	if kept, folded = event.Append(nil, 0, huge); folded != 0 || len(kept) != 1 {
		t.Errorf("of one, %d kept, %d folded", len(kept), folded)
	}
	if kept, folded = event.Append(events(0, 2, 1), 0, huge); folded != 2 || len(kept) != 2 || *kept[1].CurrentStep != 1 {
		t.Errorf("of three, %d kept, %d folded", len(kept), folded)
	}
	if kept, folded = event.Append(kept, folded, step(4, 1)); folded != 3 || len(kept) != 2 || *kept[1].CurrentStep != 4 {
		t.Errorf("of four, %d kept, %d folded", len(kept), folded)
	}
}

func TestNoEventIsLostUncounted(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 30 {
		var came, kept []event.Event
		var folded int32
		// The second kind fills the bytes at about the number of events that fills the list.
		size := [][2]int{{0, 20}, {1_250, 1_300}, {0, 40_000}}[random.IntN(3)]
		for range 1 + random.IntN(30) {
			var news []event.Event
			for range random.IntN(40) {
				news = append(news, step(len(came)+len(news), size[0]+random.IntN(size[1]-size[0])))
			}
			came = append(came, news...)
			before, text := folded, fmt.Sprint(kept)
			old := kept
			kept, folded = event.Append(kept, folded, news...)
			if fmt.Sprint(old) != text {
				t.Fatal("the events that were kept before have changed")
			}
			keptWell(t, came, kept, before, folded)
		}
	}
}

// keptWell wants what is kept to be the newest of all that came, as many as the bounds allow, behind a
// count of the rest.
func keptWell(t *testing.T, came, kept []event.Event, before, folded int32) {
	t.Helper()
	rest := kept
	if folded > 0 {
		want := event.Event{StartedAt: came[0].StartedAt, Message: new(fmt.Sprintf("%d earlier events are not kept.", folded))}
		if diff := cmp.Diff(want, kept[0]); diff != "" {
			t.Fatalf("the first event: %s", diff)
		}
		rest = kept[1:]
	}
	if len(rest)+int(folded) != len(came) {
		t.Fatalf("%d kept and %d folded, of %d", len(rest), folded, len(came))
	}
	for i, e := range rest {
		if *e.CurrentStep != folded+int32(i) || *e.Message != *came[*e.CurrentStep].Message {
			t.Fatalf("event %d is %d at its place", i, *e.CurrentStep)
		}
	}
	if n := bytesOf(t, kept); len(kept) > event.MaxCount || len(rest) > 1 && n > event.MaxBytes {
		t.Fatalf("%d events of %d bytes are kept", len(kept), n)
	}
	if folded == before {
		return
	}
	// One more would have been too many, or too large. The count itself has a few bytes.
	more := came[folded-1:]
	if len(more)+1 <= event.MaxCount && bytesOf(t, more)+150 <= event.MaxBytes {
		t.Fatalf("%d were folded where %d would have done", folded, folded-1)
	}
}

func TestAllEventsAreFoldedAndStaySo(t *testing.T) {
	t.Parallel()
	first, second := event.Event{Message: new("first"), StartedAt: new("2026-03-01T10:00:00Z")}, event.Event{Message: new("second")}
	if all, folded := event.FoldAll(nil, 0); all != nil || folded != 0 {
		t.Errorf("nothing is folded to %v, %d", all, folded)
	}
	all, folded := event.FoldAll([]event.Event{second, first}, 0)
	if len(all) != 1 || folded != 2 || *all[0].Message != "2 earlier events are not kept." || *all[0].StartedAt != *first.StartedAt {
		t.Errorf("%v, %d", all, folded)
	}
	if again, n := event.FoldAll(all, folded); n != 2 || !reflect.DeepEqual(again, all) {
		t.Errorf("once more: %v, %d", again, n)
	}
	late := event.Event{Message: new("late")}
	now, n := event.Replace(all, folded, []event.Event{first}, []event.Event{first, late})
	if n != 2 || len(now) != 2 || *now[1].Message != "late" {
		t.Errorf("after a late event: %v, %d", now, n)
	}
}
