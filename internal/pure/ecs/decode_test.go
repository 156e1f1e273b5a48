package ecs_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/ecs"
)

//go:embed testdata/full.json
var full []byte

// tree returns a JSON text as a tree whose numbers keep their digits.
func tree(t *testing.T, text []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func decoded(t *testing.T, text []byte) *ecs.Data {
	t.Helper()
	d, violations := ecs.DecodePatch(strictjson.MustParse(string(text)))
	if len(violations) > 0 {
		t.Fatalf("%v in %s", violations, text)
	}
	return d
}

// visit calls f for each member and item below v, but not inside a definition; set puts another value
// in its place.
func visit(v any, pointer string, f func(pointer string, v any, set func(any))) {
	below := func(token string, child any, set func(any)) {
		f(pointer+"/"+token, child, set)
		if token != "definition" {
			visit(child, pointer+"/"+token, f)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			below(name, child, func(other any) { v[name] = other })
		}
	case []any:
		for i, child := range v {
			below(strconv.Itoa(i), child, func(other any) { v[i] = other })
		}
	}
}

func TestEveryFieldComesBackAsItWent(t *testing.T) {
	t.Parallel()
	d := decoded(t, full)
	if diff := cmp.Diff(tree(t, full), tree(t, d.Encode())); diff != "" {
		t.Error(diff)
	}
	for _, kept := range []string{`"a && b < c"`, `12345678901234567890`, `"done <ok> & gone"`} {
		if !bytes.Contains(d.Encode(), []byte(kept)) {
			t.Errorf("%s is written in another way", kept)
		}
	}
}

// The fixture has to know every field, or the test above proves less than it says.
func TestTheFixtureSetsEveryField(t *testing.T) {
	t.Parallel()
	var check func(name string, v reflect.Value)
	check = func(name string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Slice:
			if v.IsNil() {
				t.Errorf("%s is not set", name)
			} else if v.Kind() == reflect.Pointer {
				check(name, v.Elem())
			} else if v.Type().Elem().Kind() == reflect.Struct {
				check(name+"[0]", v.Index(0))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				check(name+"."+v.Type().Field(i).Name, v.Field(i))
			}
		}
	}
	check("Data", reflect.ValueOf(decoded(t, full)))
}

func TestUnknownKeysAreDroppedAtEveryLevelButInADefinition(t *testing.T) {
	t.Parallel()
	var objects []map[string]any
	noisy := tree(t, full)
	objects = append(objects, noisy.(map[string]any))
	visit(noisy, "", func(pointer string, v any, _ func(any)) {
		if object, ok := v.(map[string]any); ok && !strings.HasSuffix(pointer, "/definition") {
			objects = append(objects, object)
		}
	})
	for _, object := range objects {
		object["addedByTheCloud"] = map[string]any{"arn": 1}
		object["Type"] = nil
		object["ARN"] = false
	}
	text, err := json.Marshal(noisy)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(t, full), tree(t, decoded(t, text).Encode())); diff != "" {
		t.Errorf("%d objects with unknown keys: %s", len(objects), diff)
	}
}

// replaced returns the fixture with another value at one place.
func replaced(t *testing.T, place string, value any) []byte {
	t.Helper()
	changed := tree(t, full)
	visit(changed, "", func(pointer string, _ any, set func(any)) {
		if pointer == place {
			set(value)
		}
	})
	text, err := json.Marshal(changed)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestEveryWrongValueIsNamedByItsPlace(t *testing.T) {
	t.Parallel()
	tried := map[string]int{}
	visit(tree(t, full), "", func(place string, v any, _ func(any)) {
		refused := map[string]any{"type": "wrong", "null": nil}
		switch v := v.(type) {
		case string:
			refused["type"] = true
			if strings.HasPrefix(v, "2026-") {
				refused["format"] = "yesterday"
			}
		case json.Number:
			if !strings.HasSuffix(place, "TrafficWeight") {
				refused["int32"] = 1.5
			}
		}
		for rule, value := range refused {
			tried[rule]++
			d, violations := ecs.DecodePatch(strictjson.MustParse(string(replaced(t, place, value))))
			if d != nil || len(violations) != 1 || violations[0].Pointer != place || violations[0].Rule != rule {
				t.Errorf("%s with %v: got %v", place, value, violations)
			}
		}
	})
	if tried["type"] < 80 || tried["format"] != 6 || tried["int32"] != 13 {
		t.Errorf("tried: %v", tried)
	}
}

func TestBadValuesAreExplained(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]fault.Violation{
		` [] `: {{Pointer: "", Rule: "type", Message: "must be an object, found an array"}},
		`{"type":"terraform"}`: {{Pointer: "/type", Rule: "enum",
			Message: `must be one of aws:ecs, found "terraform"`}},
		`{"type":"aws:ecs","events":[{},{"currentStep":1.5,"totalSteps":2147483648,"desiredCount":-1e400}]}`: {
			{Pointer: "/events/1/currentStep", Rule: "int32", Message: "must be a whole number, found 1.5"},
			{Pointer: "/events/1/totalSteps", Rule: "int32", Message: "must be between -2147483648 and 2147483647, found 2147483648"},
			{Pointer: "/events/1/desiredCount", Rule: "int32", Message: "must be between -2147483648 and 2147483647, found -1e400"},
		},
		`{"type":"aws:ecs","serviceArn":null}`: {{Pointer: "/serviceArn", Rule: "null", Message: "must not be null; leave it out instead"}},
		`{"type":"aws:ecs","revertRequestedAt":"2026-03-01"}`: {{Pointer: "/revertRequestedAt", Rule: "format",
			Message: `must be a UTC date-time with Z and at most 9 digits of fraction, such as 2026-01-31T09:30:00.5Z, found "2026-03-01": it is no date-time`}},
	} {
		d, got := ecs.DecodePatch(strictjson.MustParse(text))
		if diff := cmp.Diff(want, got); diff != "" || d != nil {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestARefusalStaysSmall(t *testing.T) {
	t.Parallel()
	_, got := ecs.DecodePatch(strictjson.MustParse(`{"type":"aws:ecs","events":[` + strings.Repeat("0,", 999) + `0]}`))
	if len(got) != 101 || got[100].Rule != "more_violations" || !strings.Contains(got[100].Message, "900 more") {
		t.Errorf("got %d, the last %v", len(got), got[len(got)-1])
	}
}

func TestTimesKeepTheirText(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"2026-03-01T10:00:00Z":            true,
		"2026-03-01T10:00:00.1Z":          true,
		"2026-03-01T10:00:00.100Z":        true,
		"2026-03-01T10:00:00.000000000Z":  true,
		"2024-02-29T23:59:59Z":            true,
		"2026-03-01T10:00:00.0000000000Z": false,
		"2026-03-01T10:00:00.Z":           false,
		"2026-03-01T10:00:00,5Z":          false,
		"2026-03-01T1:00:00Z":             false,
		"2026-03-01T1:00:00.5Z":           false,
		"2026-03-01T10:00:00+00:00":       false,
		"2026-03-01T10:00:00.5+00:00":     false,
		"2026-03-01T10:00:00":             false,
		"2026-03-01t10:00:00z":            false,
		"2026-02-29T10:00:00Z":            false,
		"":                                false,
	} {
		d, violations := ecs.DecodePatch(strictjson.MustParse(`{"type":"aws:ecs","revertRequestedAt":"` + text + `"}`))
		switch {
		case ok && len(violations) > 0:
			t.Errorf("%s: %v", text, violations)
		case ok && *d.RevertRequestedAt != text:
			t.Errorf("%s became %s", text, *d.RevertRequestedAt)
		case !ok && (len(violations) != 1 || violations[0].Rule != "format"):
			t.Errorf("%s: got %v, want it refused", text, violations)
		}
	}
}

func TestTrafficWeightsAreRoundedToIntegers(t *testing.T) {
	t.Parallel()
	for sent, stored := range map[string]int32{"100.0": 100, "99.5": 100, "33.333333": 33, "0.4": 0, "0": 0, "1e1": 10} {
		text := strings.ReplaceAll(`{"type":"aws:ecs","serviceDeploymentState":{"targetServiceRevision":{"requestedProductionTrafficWeight":?,"requestedTestTrafficWeight":?}}}`, "?", sent)
		revision := decoded(t, []byte(text)).ServiceDeploymentState.TargetServiceRevision
		if *revision.RequestedProductionTrafficWeight != stored || *revision.RequestedTestTrafficWeight != stored {
			t.Errorf("%s became %d and %d", sent, *revision.RequestedProductionTrafficWeight, *revision.RequestedTestTrafficWeight)
		}
	}
}

func TestAbsentStaysAbsentAndEmptyStaysEmpty(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"type":"aws:ecs"}`,
		`{"type":"aws:ecs","clusterArn":"","acceptedPauseControl":{},"elbListenerState":[],"events":[{}],"postDeployEnabled":false}`,
	} {
		if got := string(decoded(t, []byte(text)).Encode()); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}

func TestAPatchMayLeaveOutItsType(t *testing.T) {
	t.Parallel()
	d, violations := ecs.DecodePatch(strictjson.MustParse(`{"detectedVia":"poll"}`))
	if len(violations) > 0 || d.Type != ecs.Type || *d.DetectedVia != "poll" {
		t.Errorf("got %v, %v", d, violations)
	}
	if _, violations := ecs.DecodePatch(strictjson.MustParse(`{"type":"terraform"}`)); len(violations) != 1 || violations[0].Pointer != "/type" {
		t.Errorf("another type: got %v", violations)
	}
	if _, violations := ecs.DecodePatch(strictjson.MustParse(`5`)); len(violations) != 1 || violations[0].Rule != "type" {
		t.Errorf("no object: got %v", violations)
	}
}

func TestWhatACallerWritesHasDeclaredKeysOnly(t *testing.T) {
	t.Parallel()
	refused := func(_ any, violations []fault.Violation) string {
		var places []string
		for _, v := range violations {
			places = append(places, v.Pointer+" "+v.Rule)
		}
		return strings.Join(places, ", ")
	}
	for text, want := range map[string]string{
		`{"clusterArn":"c","type":"aws:ecs"}`:                            "",
		`{"clusterArm":"c","b":{},"serviceArn":1}`:                       "/clusterArm unknown_field, /b unknown_field, /serviceArn type",
		`{"acceptedPauseControl":{"hook":1},"events":[{},{"note":"x"}]}`: "/acceptedPauseControl/hook unknown_field, /events/1/note unknown_field",
		`{"triggeredBy":"eve","triggerChannel":"rest"}`:                  "/triggerChannel read_only, /triggeredBy read_only",
		`{"deployedTaskDefinition":{},"previousTaskDefinition":null}`:    "/deployedTaskDefinition read_only, /previousTaskDefinition read_only, /previousTaskDefinition null",
	} {
		if got := refused(ecs.DecodeNew(strictjson.MustParse(text))); got != want {
			t.Errorf("data %s: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`{"arn":"a","revision":1,"definition":{"anything":{"goes":1}}}`: "",
		`{"family":"web","definition":{"new":1}}`:                       "/family unknown_field",
	} {
		if got := refused(ecs.DecodeArtifact(strictjson.MustParse(text))); got != want {
			t.Errorf("artifact %s: %q, want %q", text, got, want)
		}
		if _, err := new(ecs.Data).Replay(json.RawMessage(text), nil, "rest", "ada"); err != nil {
			t.Errorf("what is stored is not read: %s: %v", text, err)
		}
	}
}

func TestAnUndeclaredKeyIsRefusedByItsPlaceInEveryObjectThatACallerWrites(t *testing.T) {
	t.Parallel()
	const key = "addedByTheCloud"
	var places []string
	visit(tree(t, full), "", func(place string, v any, _ func(any)) {
		if _, isObject := v.(map[string]any); isObject && !strings.Contains(place, "TaskDefinition") { // which Slipway fills
			places = append(places, place)
		}
	})
	if len(places) < 8 {
		t.Errorf("the fixture has the objects %v", places)
	}
	for _, place := range append(places, "") {
		written := tree(t, full).(map[string]any)
		for _, name := range []string{"deployedTaskDefinition", "previousTaskDefinition", "triggerChannel", "triggeredBy"} {
			delete(written, name)
		}
		if place == "" {
			written[key] = true
		}
		visit(written, "", func(at string, v any, _ func(any)) {
			if at == place {
				v.(map[string]any)[key] = true
			}
		})
		text, err := json.Marshal(written)
		if err != nil {
			t.Fatal(err)
		}
		_, violations := ecs.DecodeNew(strictjson.MustParse(string(text)))
		if len(violations) != 1 || violations[0].Pointer != place+"/"+key || violations[0].Rule != "unknown_field" {
			t.Errorf("in %q: %v", place, violations)
		}
		if _, violations := ecs.DecodePatch(strictjson.MustParse(string(text))); len(violations) > 0 {
			t.Errorf("a report with it in %q: %v", place, violations)
		}
	}
}
