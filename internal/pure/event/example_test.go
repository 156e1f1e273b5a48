package event_test

import (
	"fmt"

	"slipway/internal/pure/event"
)

// A deployment that reports without end keeps its newest events, behind one that counts the others.
func ExampleAppend() {
	var kept []event.Event
	var folded int32
	for i := range 500 {
		kept, folded = event.Append(kept, folded, event.Event{Message: new(fmt.Sprintf("step %d", i))})
	}
	fmt.Println(len(kept), folded)
	fmt.Println(*kept[0].Message)
	fmt.Println(*kept[1].Message)
	// Output:
	// 200 301
	// 301 earlier events are not kept.
	// step 301
}
