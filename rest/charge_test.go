package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	"slipway/internal/edge/quota"
	"slipway/internal/server"
	"slipway/internal/service/catalog"
	"slipway/internal/test/worldtest"
)

// left is what an answer says is left in the caller's bucket.
func left(r worldtest.Response) string {
	return r.Header.Get("RateLimit-Remaining") + " of " + r.Header.Get("RateLimit-Limit")
}

func TestEachOperationTakesItsCostOutOfTheCallersBucket(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := w.Fixture(t, w.Acme, "web").Succeeded(t)
		s := w.Serving(t, func(c *server.Config) {
			c.Bucket, c.Now = quota.Bucket{Capacity: 40, PerSecond: 1}, stopped()
		})
		admin := w.Acme.Tokens[actor.Admin]
		for _, c := range []struct {
			method, path, body, left string
		}{
			{http.MethodGet, "/deployments/" + d.ID, "", "38 of 40"},
			{http.MethodGet, "/module-definitions?limit=20", "", "33 of 40"}, // 1 and 20 / 5
			{http.MethodPost, "/deployments/" + d.ID + "/rollback", "", "23 of 40"},
			{http.MethodPatch, "/default-value-definitions/dvd_x", `{"data":{}}`, "13 of 40"},
			{http.MethodPatch, "/default-value-definitions/dvd_x", `{"data":{"description":"` + strings.Repeat("d", 1024) + `"}}`, "0 of 40"}, // 10, and 6 for the KiB
		} {
			r := s.REST(t, c.method, c.path, admin, c.body, nil)
			if left(r) != c.left || r.Status == http.StatusTooManyRequests {
				t.Errorf("%s %s: %d, %s left, want %s: %s", c.method, c.path, r.Status, left(r), c.left, r.Body)
			}
		}
		r := s.REST(t, http.MethodGet, "/deployments/"+d.ID, admin, "", nil)
		if r.Status != http.StatusTooManyRequests || r.Code(t) != string(fault.RequestRateLimited) ||
			r.Header.Get("Retry-After") == "" || left(r) != "0 of 40" || !strings.Contains(string(r.Body), "--cost-capacity") {
			t.Errorf("%d %v %s", r.Status, r.Header, r.Body)
		}
		// Others have buckets of their own, those without a token a smaller one; GraphQL spends out of the same.
		if r := s.REST(t, http.MethodGet, "/deployments/"+d.ID, w.Acme.Tokens[actor.Viewer], "", nil); left(r) != "38 of 40" {
			t.Errorf("another token: %s", left(r))
		}
		if r := s.REST(t, http.MethodGet, "/module-definitions?limit=1", "", "", nil); left(r) != "3 of 4" {
			t.Errorf("without a token: %s", left(r))
		}
		if r := s.GraphQL(t, admin, "{ viewer { name } }", nil); r.Code(t) != string(fault.RequestRateLimited) {
			t.Errorf("over GraphQL: %s", r.Body)
		}
	})
}

func TestWhatIsLeftIsToldWithEveryAnswerToAKnownCaller(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := w.Fixture(t, w.Acme, "web").Succeeded(t)
		definition := define(t, w, w.Acme)
		s := w.Serving(t, func(c *server.Config) {
			c.Bucket, c.Now, c.MaxBody = quota.Bucket{Capacity: 1000, PerSecond: 100}, stopped(), 1024
		})
		read, patch := "/deployments/"+d.ID, "/default-value-definitions/"+definition.ID
		admin, spent := w.Acme.Tokens[actor.Admin], 0
		for _, c := range []struct {
			method, path, body string
			headers            map[string]string
			status, cost       int
		}{
			{http.MethodGet, read, "", nil, 200, 2},
			{http.MethodGet, read, "", map[string]string{"If-None-Match": "*"}, 304, 2},
			{http.MethodGet, read + "?x=1", "", nil, 400, 2},
			{http.MethodGet, "/deployments/none", "", nil, 404, 2},
			{http.MethodGet, read, "", map[string]string{"Accept": "text/html"}, 406, 2},
			{http.MethodGet, "/module-definitions?limit=0", "", nil, 400, 1},
			{http.MethodPost, read + "/rollback", "", nil, 201, 10},
			{http.MethodPost, read + "/rollback", "", nil, 409, 10},
			{http.MethodPatch, patch, `{"data":{}}`, map[string]string{"If-Match": `"v9"`}, 412, 10},
			{http.MethodPatch, patch, strings.Repeat(" ", 2000), nil, 413, 10},
			{http.MethodPatch, patch, `{"data":{}}`, map[string]string{"Content-Type": "text/plain"}, 415, 10},
			{http.MethodPatch, patch, `{"data":{"schema":{"id":"a","label":"A","type":"number","min":2,"max":1}}}`, nil, 422, 11}, // and what it is compared with
		} {
			r := s.REST(t, c.method, c.path, admin, c.body, c.headers)
			spent += c.cost
			reset := fmt.Sprint((spent + 99) / 100)
			if want := fmt.Sprintf("%d of 1000", 1000-spent); r.Status != c.status || left(r) != want || r.Header.Get("RateLimit-Reset") != reset {
				t.Errorf("%s %s: %d, %s left, full in %s s; want %d, %s and %s: %s",
					c.method, c.path, r.Status, left(r), r.Header.Get("RateLimit-Reset"), c.status, want, reset, r.Body)
			}
		}
		forbidden := s.REST(t, http.MethodPost, read+"/rollback", w.Acme.Tokens[actor.Viewer], "", nil)
		if forbidden.Status != http.StatusForbidden || left(forbidden) != "990 of 1000" {
			t.Errorf("a viewer: %d, %s left", forbidden.Status, left(forbidden))
		}
		if unknown := s.REST(t, http.MethodGet, read, "", "", nil); unknown.Status != http.StatusUnauthorized || unknown.Header.Get("RateLimit-Limit") != "" {
			t.Errorf("without a token: %d %v", unknown.Status, unknown.Header)
		}
	})
}

func TestWithoutABucketNothingIsSaidOfIt(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		if r := w.REST(t, http.MethodGet, "/module-definitions", "", "", nil); r.Header.Get("RateLimit-Limit") != "" {
			t.Errorf("%v", r.Header)
		}
	})
}

func TestAPageThatWouldBeTooLongEndsEarlyAndGoesOn(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		description := strings.Repeat("d", 2000)
		for i := range 5 {
			if _, _, err := w.Catalog.CreateDefinition(w.Acme.As(actor.Admin), catalog.NewDefinition{
				Name: fmt.Sprint("m", i), Type: fmt.Sprint("t", i), Description: &description, Status: "ACTIVE",
			}); err != nil {
				t.Fatal(err)
			}
		}
		for most, sizes := range map[int][]int{20_000: {5}, 5000: {2, 2, 1}, 100: {1, 1, 1, 1, 1}} {
			s := w.Serving(t, func(c *server.Config) { c.Limits.Answer = most })
			seen := map[string]bool{}
			path := "/module-definitions?limit=100"
			for page, want := range sizes {
				r := s.REST(t, http.MethodGet, path, w.Acme.Tokens[actor.Viewer], "", nil)
				records, _ := r.At(t, "data").([]any)
				for i := range records {
					seen[r.Text(t, "data", i, "id")] = true
				}
				if len(records) != want || fmt.Sprintf("%v %v", r.At(t, "meta", "limit"), r.At(t, "meta", "totalCount")) != "100 5" {
					t.Errorf("at most %d, page %d: %d records, want %d", most, page, len(records), want)
				}
				cursor, more := r.At(t, "meta", "nextCursor").(string)
				if last := page == len(sizes)-1; more == last {
					t.Errorf("at most %d, page %d: cursor %q", most, page, cursor)
				}
				path = "/module-definitions?limit=100&cursor=" + cursor
			}
			if len(seen) != 5 {
				t.Errorf("at most %d: %d of 5 were seen", most, len(seen))
			}
		}
	})
}

// stopped is a clock that stands still.
func stopped() func() time.Time {
	now := store.Now()
	return func() time.Time { return now }
}

// What patterns take is taken out of the bucket on both surfaces; the cost that GraphQL tells has none of it.
func TestTheStepsOfPatternsAreTakenOutOfTheCallersBucket(t *testing.T) {
	t.Parallel()
	const capacity, most, least = 100_000, 7_000, 5_000 // a match takes 13.8 million steps of 15 million
	property := `{"id":"a","label":"L","type":"string","patterns":[{"pattern":"(?=(a?){1,65000})x","message":"m"}]`
	text := `"` + strings.Repeat("a", 1_000) + `"`
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		definition := define(t, w, w.Acme)
		s := w.Serving(t, func(c *server.Config) {
			c.Bucket, c.Now = quota.Bucket{Capacity: capacity, PerSecond: 1}, stopped()
		})
		r := s.REST(t, http.MethodPatch, "/default-value-definitions/"+definition.ID, w.Acme.Tokens[actor.Admin], `{"data":{"schema":`+property+`,"default":`+text+`}}}`, nil)
		spent, err := strconv.Atoi(r.Header.Get("RateLimit-Remaining"))
		if spent = capacity - spent; err != nil || !strings.Contains(string(r.Body), `"pattern"`) || spent < least || spent > most {
			t.Errorf("REST: %d spent, %v: %d %s", spent, err, r.Status, r.Body)
		}
		r = s.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($i: [InputPropertyInput!], $v: JSON!) { validateInputs(input: {inputs: $i, values: $v}) { valid } }`,
			map[string]any{"i": []any{map[string]any{"json": json.RawMessage(property + "}")}}, "v": json.RawMessage(`{"a":` + text + `}`)})
		var a struct {
			Data       struct{ ValidateInputs struct{ Valid bool } }
			Extensions struct{ Cost struct{ Used, Left int } }
		}
		if err := json.Unmarshal(r.Body, &a); err != nil {
			t.Fatalf("%v: %s", err, r.Body)
		}
		if beside := capacity - a.Extensions.Cost.Left - a.Extensions.Cost.Used; a.Data.ValidateInputs.Valid || a.Extensions.Cost.Used > 100 || beside < least || beside > most {
			t.Errorf("GraphQL: %d spent beside the cost: %s", beside, r.Body)
		}
	})
}
