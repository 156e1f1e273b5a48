// Package counttest counts what requests take of the program: statements and round trips to the database, allocations,
// and bytes. Counts are the same on every machine, so that they can be compared with those of before; times are not.
package counttest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"slipway/internal/test/worldtest"
)

// accept is the flag that writes the counts down instead of comparing them.
var accept = flag.Bool("accept", false, "write the counts of the requests to "+file)

const (
	file     = "counts.json"
	toAccept = "where it has to be so, accept it by: make counts"
	// tolerance is how much more, or less, a request may take of what is not counted exactly.
	tolerance = 0.1
)

// counts are what one request takes.
type counts struct {
	Statements     int `json:"statements"`
	RoundTrips     int `json:"roundTrips,omitempty"`
	DatabaseBytes  int `json:"databaseBytes,omitempty"`
	Allocations    int `json:"allocations"`
	AllocatedBytes int `json:"allocatedBytes"`
	AnswerBytes    int `json:"answerBytes"`
}

// exact are the counts of which a request may take no more at all.
var exact = []string{"Statements", "RoundTrips", "AnswerBytes"}

// expected are the counts of every request, by the database and the request's name.
type expected map[string]map[string]counts

//nolint:paralleltest // what runs beside it would be counted
func TestRequestsTakeNoMoreThanBefore(t *testing.T) {
	want := read(t)
	for _, database := range slices.Sorted(maps.Keys(worldtest.Databases)) {
		t.Run(database, func(t *testing.T) {
			s := newServer(t, database)
			found := map[string]counts{}
			for _, r := range s.requests(t) {
				found[r.name] = s.count(t, r)
			}
			if *accept {
				want[database] = found
				return
			}
			compare(t, database, want[database], found)
		})
	}
	if *accept && !t.Failed() {
		write(t, want)
	}
}

// compare fails if a request takes more than it did, and logs where it takes less.
func compare(t *testing.T, database string, want, found map[string]counts) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(found)) {
		was, known := want[name]
		if !known {
			t.Errorf("%s is not in %s: %s", name, file, toAccept)
			continue
		}
		before, now := reflect.ValueOf(was), reflect.ValueOf(found[name])
		for i := range now.NumField() {
			field := now.Type().Field(i)
			if isAllocation := strings.HasPrefix(field.Name, "Alloc"); isAllocation && uncountable != "" {
				continue
			}
			was, is := int(before.Field(i).Int()), int(now.Field(i).Int())
			change := fmt.Sprintf("%s on %s: %s was %d, is %d (%+.1f %%)", name, database, field.Tag.Get("json"), was, is, 100*float64(is-was)/float64(max(was, 1)))
			change = strings.Replace(change, ",omitempty", "", 1)
			switch {
			case float64(is) > float64(was)*(1+tolerance), is > was && slices.Contains(exact, field.Name):
				t.Errorf("%s; %s", change, toAccept)
			case float64(is) < float64(was)*(1-tolerance), is < was && slices.Contains(exact, field.Name):
				t.Logf("%s; keep it so by: make counts", change)
			}
		}
	}
	for name := range want {
		if _, is := found[name]; !is {
			t.Errorf("%s is in %s, and no request any more: %s", name, file, toAccept)
		}
	}
	if uncountable != "" {
		t.Logf("allocations are not compared: %s", uncountable)
	}
}

func read(t *testing.T) expected {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := expected{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&known); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return known
}

func write(t *testing.T, counted expected) {
	t.Helper()
	if uncountable != "" {
		t.Fatalf("the counts cannot be accepted: %s", uncountable)
	}
	text, err := json.MarshalIndent(counted, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}
