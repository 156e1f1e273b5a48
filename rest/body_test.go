package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

func TestBadBodiesAreRefusedWithEveryPlace(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	definition := define(t, w, w.Acme)
	const malformed, invalid = "slipway:Request:MALFORMED", "slipway:Request:INVALID"
	for name, test := range map[string]struct {
		body, code string
		places     []string
	}{
		"text":               {`hello`, malformed, []string{""}},
		"a key cut off":      {`{"data":{"name":"x"`, malformed, []string{"/data"}},
		"something after":    {`{"data":{}} {}`, malformed, []string{""}},
		"a comma too much":   {`{"data":{},}`, malformed, []string{""}},
		"a key twice":        {`{"data":{},"data":{}}`, malformed, []string{"/data"}},
		"a key twice inside": {`{"data":{"schema":{"id":"a","id":"b"}}}`, malformed, []string{"/data/schema/id"}},
		"a lone surrogate":   {`{"data":{"name":"\ud800"}}`, malformed, []string{"/data/name"}},
		"no UTF-8":           {"{\"data\":{\"name\":\"\xff\"}}", malformed, []string{"/data/name"}},
		"a byte order mark":  {"\ufeff{}", malformed, []string{""}},
		"white space":        {" \n", malformed, []string{""}},
		"far too deep":       {`{"data":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, malformed, []string{"/data" + strings.Repeat("/0", 95)}},
		"an array":           {`[]`, malformed, []string{""}},
		"null":               {`null`, malformed, []string{""}},
		"no data":            {`{}`, invalid, []string{"/data"}},
		"null data":          {`{"data":null}`, invalid, []string{"/data"}},
		"data of a type":     {`{"data":[]}`, malformed, []string{"/data"}},
		"keys undeclared":    {`{"data":{"x":1},"y":2}`, malformed, []string{"/data/x", "/y"}},
		"keys read-only": {
			`{"data":{"id":"a","createdAt":"","updatedAt":"","organizationId":"","givenId":"","createdByType":""}}`, malformed,
			[]string{"/data/id", "/data/createdAt", "/data/updatedAt", "/data/organizationId", "/data/givenId", "/data/createdByType"},
		},
		"keys in other case": {`{"Data":{},"data":{"Name":"x"}}`, malformed, []string{"/Data", "/data/Name"}},
		"wrong types":        {`{"data":{"name":1,"description":[],"schema":"x"}}`, malformed, []string{"/data/name", "/data/description", "/data/schema"}},
		"nulls":              {`{"data":{"name":null,"description":null,"schema":null}}`, invalid, []string{"/data/name", "/data/description", "/data/schema"}},
		"an empty name":      {`{"data":{"name":""}}`, invalid, []string{"/data/name"}},
		"an empty schema":    {`{"data":{"schema":{}}}`, invalid, []string{"/data/schema/type", "/data/schema/id", "/data/schema/label"}},
		"a number in half":   {`{"data":{"schema":{"id":"n","label":"N","type":"number","default":1.5}}}`, invalid, []string{"/data/schema/default"}},
		"inside and outside": {`{"data":{"name":"","nam":"","schema":{"id":"n","label":"","type":"text"}}}`, malformed, []string{"/data/name", "/data/nam", "/data/schema/label"}},
		"controls":           {`{"data":{"name":"\u202e","description":"\r"}}`, invalid, []string{"/data/name", "/data/description"}},
		"controls and more":  {`{"data":{"name":"\u202e","description":"\r","x":1,"schema":{"id":"n","label":"","type":"text"}}}`, malformed, []string{"/data/x", "/data/name", "/data/description", "/data/schema/label"}},
		"a key to escape":    {`{"data":{"a/b~c":1}}`, malformed, []string{"/data/a~1b~0c"}},
	} {
		got := ask(t, w, exchange{http.MethodPatch, "/default-value-definitions/" + definition.ID, w.Acme.Tokens[actor.Admin], test.body, nil})
		if got.Status != http.StatusBadRequest || got.Code(t) != test.code {
			t.Errorf("%s: %d %s, want 400 %s: %s", name, got.Status, got.Code(t), test.code, got.Body)
		}
		if places := placesOf(t, got); !sameSet(places, test.places) {
			t.Errorf("%s: the places are %q, want %q", name, places, test.places)
		}
	}
}

func placesOf(t *testing.T, got worldtest.Response) []string {
	t.Helper()
	violations, _ := got.At(t, "metadata", "violations").([]any)
	var places []string
	for _, v := range violations {
		place, _ := v.(map[string]any)["pointer"].(string)
		places = append(places, place)
	}
	return places
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func TestReplaysTakeNoBodyAndNoParameters(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		for body, want := range map[string]int{
			"": 409, "{}": 409, " \n ": 409, "{ }\n": 409,
			"[]": 400, "null": 400, `{"a":1}`: 400, "{": 400, "{}{}": 400, `""`: 400,
		} {
			e := s.replay("rollback", s.busy.ID, actor.Developer)
			e.body = body
			if got := ask(t, w, e); got.Status != want {
				t.Errorf("the body %q gets %d, want %d: %s", body, got.Status, want, got.Body)
			}
		}
	})
}

func TestBadParametersAreRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	for query, want := range map[string]int{
		"": 200, "limit=1": 200, "limit=100": 200, "status=ACTIVE&limit=007": 200,
		"limit=0": 400, "limit=101": 400, "limit=-1": 400, "limit=%2B1": 400, "limit=1.0": 400, "limit=1e1": 400,
		"limit=99999999999999999999": 400, "limit=": 400, "limit": 400, "limit=1&limit=1": 400,
		"status=": 400, "status=draft": 400, "status=DRAFT,ACTIVE": 400, "Status=DRAFT": 400,
		"cursor=": 400, "cursor=x": 400, "cursor=%00": 400, "page=2": 400, "=": 400,
		"limit=%zz": 400, "limit=1;status=DRAFT": 400,
	} {
		got := ask(t, w, exchange{method: http.MethodGet, path: "/module-definitions?" + query, token: w.Acme.Tokens[actor.Viewer]})
		if got.Status != want {
			t.Errorf("?%s gets %d, want %d: %s", query, got.Status, want, got.Body)
		}
	}
}

func TestTheDigitsOfASchemaAreKept(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		definition := define(t, w, w.Acme)
		const number = "12345678901234567890.10"
		body := `{"data":{"schema":{"id":"o","label":"O","type":"object","default":{"n":` + number + `}}}}`
		got := ask(t, w, exchange{http.MethodPatch, "/default-value-definitions/" + definition.ID, w.Acme.Tokens[actor.Admin], body, nil})
		if !strings.Contains(string(got.Body), `{"n":`+number+`}`) {
			t.Errorf("the number came back otherwise: %d %s", got.Status, got.Body)
		}
	})
}
