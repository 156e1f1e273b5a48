package server_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/server"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// coded returns the answer to a request, whose body is taken as it comes.
func coded(t *testing.T, method, url, body string, header ...string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context()) // which ends a stream
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// unpacked returns the body of an answer as it was before it was compressed.
func unpacked(t *testing.T, answer *http.Response) string {
	t.Helper()
	body := io.Reader(answer.Body)
	if answer.Header.Get("Content-Encoding") == "gzip" {
		plain, err := gzip.NewReader(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		body = plain
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// described makes a deployment with a long description, and returns its id.
func described(t *testing.T, w *worldtest.World) string {
	t.Helper()
	p := w.Fixture(t, w.Acme, "web")
	d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
		InstanceID: p.Instance.ID, VersionID: p.Version.ID, Description: new(strings.Repeat("long ", 1000)),
		Inputs: strictjson.MustParse(`{"image":"web:1.4.2"}`), Artifact: strictjson.MustParse(worldtest.Artifact),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d.ID
}

func TestEverySurfaceCompressesItsLongAnswers(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{Introspection: true, Playground: true})
	d := described(t, w)
	token := "Bearer " + w.Acme.Tokens[actor.Developer]
	query := `{"query":"{ deployment(id: \"` + d + `\") { description } __schema { types { name } } }"}`
	for _, c := range []struct {
		method, path, body string
		compressed         bool
	}{
		{"POST", "/graphql", query, true},
		{"POST", "/graphql", `{"query":"{ __typename }"}`, false},
		{"POST", "/graphql", `{"query":"{ ` + strings.Repeat("wrong ", 300) + `}"}`, true},
		{"GET", "/deployments/" + d, "", true},
		{"GET", "/deployments/none", "", false},
		{"GET", "/openapi.json", "", true},
		{"GET", "/schema.graphql", "", true},
		{"GET", "/docs/swagger-ui.css", "", true},
		{"GET", "/playground", "", true},
		{"GET", "/playground/config.json", "", false},
		{"GET", "/docs/favicon-32x32.png", "", false},
	} {
		header := []string{"Authorization", token, "Content-Type", "application/json", "Accept", "*/*", "Accept-Encoding"}
		packed, plain := coded(t, c.method, s.URL+c.path, c.body, append(header, "gzip")...), coded(t, c.method, s.URL+c.path, c.body, append(header, "identity")...)
		if got := packed.Header.Get("Content-Encoding") == "gzip"; got != c.compressed || plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s %s: %d %v", c.method, c.path, packed.StatusCode, packed.Header)
		}
		for _, answer := range []*http.Response{packed, plain} {
			if vary := strings.Join(answer.Header.Values("Vary"), ", "); !strings.Contains(vary, "Accept-Encoding") {
				t.Errorf("%s %s: Vary %q", c.method, c.path, vary)
			}
		}
		if tag := plain.Header.Get("ETag"); c.compressed && strings.HasPrefix(tag, `"`) && packed.Header.Get("ETag") != strings.TrimSuffix(tag, `"`)+`-gzip"` {
			t.Errorf("%s %s: the tags %s and %s", c.method, c.path, tag, packed.Header.Get("ETag"))
		}
		if tag := packed.Header.Get("ETag"); strings.HasPrefix(tag, `"`) { // those of Swagger UI have no quotes
			again := coded(t, c.method, s.URL+c.path, c.body, append(header, "gzip", "If-None-Match", tag)...)
			if again.StatusCode != http.StatusNotModified || again.Header.Get("ETag") != tag || again.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s %s by %s: %d %v", c.method, c.path, tag, again.StatusCode, again.Header)
			}
		}
		if one, other := unpacked(t, packed), unpacked(t, plain); len(one) != len(other) || one == "" { // request ids are as long
			t.Errorf("%s %s: %d bytes, and %d as they are", c.method, c.path, len(one), len(other))
		}
	}
}

func TestStreamsOfEventsAreNotCompressed(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{})
	d := described(t, w)
	body := `{"query":"subscription { deploymentChanged(id: \"` + d + `\") { deployment { description } } }"}`
	answer := coded(t, "POST", s.URL+"/graphql", body, "Authorization", "Bearer "+w.Acme.Tokens[actor.Developer],
		"Content-Type", "application/json", "Accept", "text/event-stream", "Accept-Encoding", "gzip")
	first := make([]byte, 5)
	if _, err := io.ReadFull(answer.Body, first); err != nil || answer.Header.Get("Content-Encoding") != "" {
		t.Errorf("%q, %v, %v", first, err, answer.Header)
	}
}

func TestAChangeOfWhatWasReadCompressedIsOfItsVersion(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{})
	created := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `mutation($d: String!) { createDefaultValueDefinition(input: {givenId: "a", name: "A", description: $d,
		schema: {string: {id: "a", label: "A"}}}) { defaultValueDefinition { id } } }`, map[string]any{"d": strings.Repeat("long ", 1000)})
	id, _ := created.At(t, "data", "createDefaultValueDefinition", "defaultValueDefinition", "id").(string)
	header := []string{"Authorization", "Bearer " + w.Acme.Tokens[actor.Admin], "Content-Type", "application/json", "Accept-Encoding", "gzip", "If-Match"}
	for _, c := range []struct {
		tag, answered string
		status        int
	}{{`"v1-gzip"`, `"v2-gzip"`, 200}, {`"v1-gzip"`, "", 412}, {`"v7-gzip", "v2-gzip"`, `"v3-gzip"`, 200}} {
		answer := coded(t, "PATCH", s.URL+"/default-value-definitions/"+id, `{"data":{"name":"Read as `+c.tag[1:3]+`"}}`, append(header, c.tag)...)
		if answer.StatusCode != c.status || answer.Header.Get("ETag") != c.answered {
			t.Errorf("If-Match %s: %d %v %s", c.tag, answer.StatusCode, answer.Header, unpacked(t, answer))
		}
	}
}

func TestACodingThatIsNotTakenIsToldSo(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{})
	for _, path := range []string{"/graphql", "/deployments/dep_1/rollback"} {
		for coding, want := range map[string]string{"gzip": "identity", "identity": ""} {
			answer := coded(t, "POST", s.URL+path, "{}", "Authorization", "Bearer "+w.Acme.Tokens[actor.Developer],
				"Content-Type", "application/json", "Content-Encoding", coding)
			if answer.Header.Get("Accept-Encoding") != want || (answer.StatusCode == http.StatusUnsupportedMediaType) != (want != "") {
				t.Errorf("%s in %s: %d %v", path, coding, answer.StatusCode, answer.Header)
			}
		}
	}
}
