package server_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"slipway/graph"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/quota"
	"slipway/internal/server"
	"slipway/internal/test/worldtest"
)

const (
	catalogue = `query Catalogue { moduleDefinitions(first: 2) { totalCount nodes { name } } }`
	whoAmI    = `query Who { viewer { name } }`
	cancels   = `mutation Cancel($id: ID!) { cancelDeployment(input: {id: $id}) { deployment { id } } }`
	follows   = `subscription Follow($id: ID!) { deploymentChanged(id: $id) { deployment { id status } } }`
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// trusted are four documents, by a name, by a bare hash and by one that says what it is.
func trusted(t *testing.T, only bool) *gqlhttp.Trusted {
	t.Helper()
	text, err := json.Marshal(map[string]string{"catalogue": catalogue, hashOf(whoAmI): whoAmI, "sha256:" + hashOf(cancels): cancels, "follow": follows})
	if err != nil {
		t.Fatal(err)
	}
	docs, err := graph.ReadTrusted(text, graph.Config{})
	if err != nil {
		t.Fatal(err)
	}
	docs.Only = only
	return docs
}

// asked is a request for a document over GraphQL.
type asked struct {
	method, token string
	members       map[string]any
	header        []string
}

func (a asked) send(t *testing.T, base string) (*http.Response, string) {
	t.Helper()
	header := append(slices.Clone(a.header), "Accept", "application/graphql-response+json")
	if a.token != "" {
		header = append(header, "Authorization", "Bearer "+a.token)
	}
	if a.method == http.MethodPost {
		body, err := json.Marshal(a.members)
		if err != nil {
			t.Fatal(err)
		}
		return send(t, a.method, base+"/graphql", string(body), append(header, "Content-Type", "application/json")...)
	}
	values := url.Values{}
	for name, value := range a.members {
		text, ok := value.(string)
		if !ok {
			encoded, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			text = string(encoded)
		}
		values.Set(name, text)
	}
	return send(t, a.method, base+"/graphql?"+values.Encode(), "", header...)
}

func persisted(hash string) map[string]any {
	return map[string]any{"extensions": map[string]any{"persistedQuery": map[string]any{"version": 1, "sha256Hash": hash}}}
}

// with adds a member to a copy.
func with(members map[string]any, name string, value any) map[string]any {
	all := map[string]any{name: value}
	for n, v := range members {
		all[n] = v
	}
	return all
}

// codeIn is the code of an answer's first error, and its message.
func codeIn(t *testing.T, body string) (code, message string) {
	t.Helper()
	var answer struct {
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if len(answer.Errors) == 0 {
		return "", ""
	}
	return answer.Errors[0].Extensions.Code, answer.Errors[0].Message
}

func TestAHashWithoutATextIsRefusedAsClientsKnowIt(t *testing.T) {
	t.Parallel()
	for name, docs := range map[string]*gqlhttp.Trusted{"without": nil, "with": trusted(t, false), "only": trusted(t, true)} {
		_, s, _ := serve(t, server.Config{Trusted: docs})
		for _, method := range []string{"POST", "GET"} {
			for accept, want := range map[string]int{"application/graphql-response+json": 400, "application/json": 200, "*/*": 200, "": 200} {
				resp, body := send(t, method, s.URL+"/graphql?extensions="+url.QueryEscape(`{"persistedQuery":{"version":1,"sha256Hash":"abc"}}`),
					`{"operationName":"X","variables":{},"extensions":{"persistedQuery":{"version":1,"sha256Hash":"abc"}}}`,
					"Accept", accept, "Content-Type", "application/json")
				code, message := codeIn(t, body)
				if resp.StatusCode != want || message != "PersistedQueryNotSupported" || code != "slipway:Document:PERSISTED_QUERY_NOT_SUPPORTED" ||
					strings.Contains(body, `"data"`) || resp.Header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s, %s, Accept %q: %d %v %s", name, method, accept, resp.StatusCode, resp.Header, body)
				}
			}
		}
	}
}

func TestATextBesideItsHashIsRun(t *testing.T) {
	t.Parallel()
	_, s, _ := serve(t, server.Config{})
	for _, hash := range []string{hashOf(catalogue), "of something else"} {
		for _, method := range []string{"POST", "GET"} {
			resp, body := asked{method: method, members: with(persisted(hash), "query", catalogue)}.send(t, s.URL)
			if resp.StatusCode != 200 || !strings.Contains(body, `"totalCount":0`) || resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d %s", method, resp.StatusCode, body)
			}
		}
	}
}

func TestATrustedDocumentIsRunByItsName(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{false, true} {
		w, s, _ := serve(t, server.Config{Trusted: trusted(t, only)})
		viewer := w.Acme.Tokens[actor.Viewer]
		for name, members := range map[string]map[string]any{
			"an id":                {"documentId": "catalogue"},
			"an id and no text":    {"documentId": "catalogue", "query": ""},
			"an id and its name":   {"documentId": "catalogue", "operationName": "Catalogue"},
			"a hash as an id":      {"documentId": hashOf(whoAmI)},
			"a hash":               persisted(hashOf(whoAmI)),
			"a hash and no text":   with(persisted(hashOf(whoAmI)), "query", ""),
			"an id before a hash":  with(persisted("abc"), "documentId", "catalogue"),
			"the text of one":      {"query": whoAmI},
			"a text and its hash":  with(persisted(hashOf(whoAmI)), "query", whoAmI),
			"variables of nothing": {"documentId": "catalogue", "variables": map[string]any{}},
		} {
			for _, method := range []string{"POST", "GET"} {
				resp, body := asked{method: method, token: viewer, members: members}.send(t, s.URL)
				if code, _ := codeIn(t, body); resp.StatusCode != 200 || code != "" || !strings.Contains(body, `"data":{`) {
					t.Errorf("%s over %s: %d %s", name, method, resp.StatusCode, body)
				}
				if got := resp.Header.Get("Cache-Control"); got != "no-store" {
					t.Errorf("%s over %s with a token: Cache-Control %q", name, method, got)
				}
			}
		}
	}
}

func TestWhatNamesNoDocumentIsRefusedByWhatItIs(t *testing.T) {
	t.Parallel()
	without, with0 := serverOf(t, nil), serverOf(t, trusted(t, false))
	only := serverOf(t, trusted(t, true))
	for _, c := range []struct {
		name, at string
		members  map[string]any
		status   int
		code     fault.Code
		says     string
	}{
		{"an id where there are none", without, map[string]any{"documentId": "catalogue"}, 404, fault.DocumentNotFound, "--trusted-documents"},
		{"an unknown id", with0, map[string]any{"documentId": "catalog"}, 404, fault.DocumentNotFound, `"catalog"`},
		{"an unknown id, trusted only", only, map[string]any{"documentId": "catalog"}, 404, fault.DocumentNotFound, `"catalog"`},
		{"an id and a text", with0, map[string]any{"documentId": "catalogue", "query": catalogue}, 400, fault.RequestMalformed, "/documentId must not be there beside a query"},
		{"another text", only, map[string]any{"query": "{ __typename }"}, 403, fault.DocumentNotTrusted, "--trusted-only"},
		{"introspection", only, map[string]any{"query": "{ __schema { types { name } } }"}, 403, fault.DocumentNotTrusted, "--trusted-only"},
		{"a trusted text with a comment", only, map[string]any{"query": catalogue + "#"}, 403, fault.DocumentNotTrusted, "--trusted-only"},
		{"another text with a trusted hash", only, with(persisted(hashOf(whoAmI)), "query", "{ __typename }"), 403, fault.DocumentNotTrusted, "--trusted-only"},
		{"nothing", with0, map[string]any{}, 400, fault.RequestMalformed, "/query must be the text of a GraphQL document, or documentId"},
		{"an empty id", with0, map[string]any{"documentId": ""}, 400, fault.RequestMalformed, "/query must be"},
		{"a hash that is none", with0, map[string]any{"extensions": map[string]any{"persistedQuery": map[string]any{"sha256Hash": 7}}}, 400, fault.RequestMalformed, "/extensions/persistedQuery/sha256Hash must be"},
		{"a persisted query that is none", with0, map[string]any{"extensions": map[string]any{"persistedQuery": "x"}}, 400, fault.RequestMalformed, "/extensions/persistedQuery/sha256Hash must be"},
		{"an unknown operation", with0, map[string]any{"documentId": "catalogue", "operationName": "Other"}, 400, fault.DocumentValidationFailed, "Catalogue"},
		{"a variable too few", with0, map[string]any{"documentId": "follow"}, 400, fault.DocumentVariablesInvalid, "$id"},
	} {
		for _, method := range []string{"POST", "GET"} {
			resp, body := asked{method: method, members: c.members}.send(t, c.at)
			code, message := codeIn(t, body)
			if resp.StatusCode != c.status || code != string(c.code) || !strings.Contains(message, c.says) || strings.Contains(body, `"data"`) {
				t.Errorf("%s over %s: %d %s", c.name, method, resp.StatusCode, body)
			}
		}
	}
	if resp, body := (asked{method: "POST", members: map[string]any{"documentId": 7}}).send(t, with0); resp.StatusCode != 400 || !strings.Contains(body, "/documentId must be a string or null") {
		t.Errorf("a number: %d %s", resp.StatusCode, body)
	}
}

func serverOf(t *testing.T, docs *gqlhttp.Trusted) (url string) {
	t.Helper()
	_, s, _ := serve(t, server.Config{Trusted: docs, Introspection: true})
	return s.URL
}

func TestARunnerIsNotHeldToTrustedDocuments(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{Trusted: trusted(t, true)})
	for role, want := range map[actor.Role]int{actor.Runner: 200, actor.Admin: 403, actor.Viewer: 403} {
		resp, body := asked{method: "POST", token: w.Acme.Tokens[role], members: map[string]any{"query": "{ viewer { role } }"}}.send(t, s.URL)
		if resp.StatusCode != want {
			t.Errorf("%s: %d %s", role, resp.StatusCode, body)
		}
	}
}

func TestATrustedMutationIsStillNoGetAndALimitStillHolds(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{Trusted: trusted(t, false), Bucket: quota.Bucket{Capacity: 25, PerSecond: 1}})
	id := w.Fixture(t, w.Acme, "shop")
	pending := id.Deploy(t, id.Instance.ID, `{"image":"web:1.4.2"}`).ID
	cancel := asked{method: "GET", token: w.Acme.Tokens[actor.Developer], members: with(persisted(hashOf(cancels)), "variables", map[string]any{"id": pending})}
	if resp, body := cancel.send(t, s.URL); resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("GET: %d %v %s", resp.StatusCode, resp.Header, body)
	}
	cancel.method = "POST"
	if resp, body := cancel.send(t, s.URL); resp.StatusCode != 200 || !strings.Contains(body, pending) {
		t.Errorf("POST: %d %s", resp.StatusCode, body)
	}
	limited := 0
	for range 5 {
		if resp, body := cancel.send(t, s.URL); resp.StatusCode == http.StatusTooManyRequests && strings.Contains(body, "--cost-capacity") {
			limited++
		}
	}
	if limited == 0 {
		t.Error("trusted documents cost nothing")
	}
}

func TestAnAnonymousTrustedQueryInAURLMayBeKeptByCaches(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		w = w.Serving(t, func(c *server.Config) {
			c.Trusted, c.Bucket = trusted(t, false), quota.Bucket{Capacity: 10_000, PerSecond: 1}
		})
		read := func(method, token, tag string, members map[string]any) (*http.Response, string) {
			return asked{method: method, token: token, members: members, header: []string{"If-None-Match", tag}}.send(t, w.URL)
		}
		byID := map[string]any{"documentId": "catalogue"}
		first, body := read("GET", "", "", byID)
		tag := first.Header.Get("ETag")
		if first.StatusCode != 200 || first.Header.Get("Cache-Control") != "public, max-age=60" || !strings.HasPrefix(tag, `"`) || strings.Contains(body, "cost") {
			t.Fatalf("%d %v %s", first.StatusCode, first.Header, body)
		}
		if vary := strings.Join(first.Header.Values("Vary"), ","); !strings.Contains(vary, "Authorization") || !strings.Contains(vary, "Accept") || !strings.Contains(vary, "Origin") {
			t.Errorf("Vary is %q", vary)
		}
		for _, method := range []string{"GET", "HEAD"} {
			again, none := read(method, "", tag, byID)
			if again.StatusCode != 304 || none != "" || again.Header.Get("ETag") != tag || again.Header.Get("Cache-Control") != "public, max-age=60" ||
				!slices.Equal(again.Header.Values("Vary"), first.Header.Values("Vary")) {
				t.Errorf("%s: %d %v %s", method, again.StatusCode, again.Header, none)
			}
		}
		if other, body := read("GET", "", `"another"`, byID); other.StatusCode != 200 || other.Header.Get("ETag") != tag || body == "" {
			t.Errorf("another tag: %d %v", other.StatusCode, other.Header)
		}
		plain, _ := send(t, "GET", w.URL+"/graphql?documentId=catalogue", "", "Accept", "application/json")
		if plain.Header.Get("ETag") == tag || plain.Header.Get("ETag") == "" {
			t.Errorf("two media types have the tags %s and %s", tag, plain.Header.Get("ETag"))
		}
		for name, c := range map[string]struct {
			method, token string
			members       map[string]any
		}{
			"with a token":              {"GET", w.Acme.Tokens[actor.Viewer], byID},
			"over POST":                 {"POST", "", byID},
			"by its text":               {"GET", "", map[string]any{"query": catalogue}},
			"with an error in it":       {"GET", "", map[string]any{"documentId": "catalogue", "operationName": "Nothing"}},
			"with a token, as a stream": {"GET", w.Acme.Tokens[actor.Viewer], persisted(hashOf(whoAmI))},
		} {
			resp, body := read(c.method, c.token, tag, c.members)
			if resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("ETag") != "" || resp.StatusCode == 304 {
				t.Errorf("%s: %d %v %s", name, resp.StatusCode, resp.Header, body)
			}
		}
	})
}

func TestATrustedSubscriptionIsFollowedOverBothKindsOfStreams(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{Trusted: trusted(t, true)})
	done := w.Fixture(t, w.Acme, "shop").Succeeded(t).ID
	token := w.Acme.Tokens[actor.Viewer]
	variables, _ := json.Marshal(map[string]string{"id": done})
	resp, body := send(t, "GET", s.URL+"/graphql?documentId=follow&variables="+url.QueryEscape(string(variables)), "", "Accept", "text/event-stream", "Authorization", "Bearer "+token)
	if resp.StatusCode != 200 || !strings.Contains(body, "event: next\ndata: {\"data\":{\"deploymentChanged\":{\"deployment\":{\"id\":\""+done) || !strings.Contains(body, "event: complete") {
		t.Errorf("events: %d %s", resp.StatusCode, body)
	}
	resp, body = send(t, "GET", s.URL+"/graphql?documentId=follows", "", "Accept", "text/event-stream", "Authorization", "Bearer "+token)
	if resp.StatusCode != 200 || !strings.Contains(body, string(fault.DocumentNotFound)) {
		t.Errorf("events of an unknown id: %d %s", resp.StatusCode, body)
	}

	conn, _, err := websocket.Dial(t.Context(), s.URL+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	say := func(message string) {
		t.Helper()
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(kind, has string) {
		t.Helper()
		_, text, err := conn.Read(t.Context())
		if err != nil || !strings.Contains(string(text), `"type":"`+kind+`"`) || !strings.Contains(string(text), has) {
			t.Fatalf("heard %s, want %s with %s: %v", text, kind, has, err)
		}
	}
	say(`{"type":"connection_init","payload":{"Authorization":"Bearer ` + token + `"}}`)
	hear("connection_ack", "")
	say(`{"id":"1","type":"subscribe","payload":{"documentId":"follow","variables":` + string(variables) + `}}`)
	hear("next", done)
	hear("complete", `"1"`)
	say(`{"id":"2","type":"subscribe","payload":{"query":"","extensions":{"persistedQuery":{"sha256Hash":"` + hashOf(whoAmI) + `"}}}}`)
	hear("next", `"viewer"`)
	hear("complete", `"2"`)
	for id, refused := range map[string]struct{ payload, code string }{
		"3": {`{"documentId":"follows"}`, string(fault.DocumentNotFound)},
		"4": {`{"query":"{ viewer { role } }"}`, string(fault.DocumentNotTrusted)},
		"5": {`{"extensions":{"persistedQuery":{"sha256Hash":"abc"}}}`, "PersistedQueryNotSupported"},
	} {
		say(`{"id":"` + id + `","type":"subscribe","payload":` + refused.payload + `}`)
		hear("error", refused.code)
	}
}
