package deployment_test

import (
	"fmt"
	"time"

	"slipway/ent"
	"slipway/internal/service/deployment/releases"
)

// A quarantine keeps its release from being deployed or replayed until its time, or until it is lifted.
func ExampleHolds() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	until, lifted := noon.Add(time.Hour), noon.Add(time.Minute)
	fmt.Println(releases.Holds(nil, noon))
	fmt.Println(releases.Holds(&ent.Quarantine{Until: &until}, noon))
	fmt.Println(releases.Holds(&ent.Quarantine{Until: &until}, until))
	fmt.Println(releases.Holds(&ent.Quarantine{LiftedAt: &lifted}, noon))
	// Output:
	// false
	// true
	// false
	// false
}
