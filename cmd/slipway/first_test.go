package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/test/worldtest"
)

// example is a request that the explorer offers.
type example struct{ Name, Query, Variables string }

// offered returns what the explorer of a server offers.
func offered(t *testing.T, url string) (list []example) {
	t.Helper()
	answer, err := http.Get(url + "/playground/config.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var config struct {
		Token    string
		Examples []example
	}
	if err := json.NewDecoder(answer.Body).Decode(&config); err != nil || config.Token != "" {
		t.Fatalf("a token is given away, or %v", err)
	}
	return config.Examples
}

func TestTheExplorerOfAnEmptyServerMakesTheFirstThings(t *testing.T) {
	t.Parallel()
	for name, database := range worldtest.Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := database(t)
			s := serve(t, "--database", url)
			examples := offered(t, s.API)
			if len(examples) != 6 {
				t.Fatalf("%d examples where there is no organization", len(examples))
			}
			must(t, "org", "create", "--database", url, "--name", "Acme", "--slug", "acme")
			token := must(t, "token", "create", "--database", url, "--org", "acme", "--role", "admin", "--name", "me")
			known := map[string]string{}
			for _, e := range examples {
				variables := regexp.MustCompile(`[a-z]+_…`).ReplaceAllStringFunc(e.Variables, func(id string) string {
					return known[strings.TrimSuffix(id, "…")]
				})
				answer := post(t, s.API, token, e.Query, variables)
				if strings.Contains(answer, `"errors"`) {
					t.Fatalf("%s: %s", e.Name, answer)
				}
				if made := regexp.MustCompile(`"id":"([a-z]+_)(\w+)"`).FindStringSubmatch(answer); made != nil {
					known[made[1]] = made[1] + made[2]
				}
			}
			if _, deployed := known["dep_"]; !deployed {
				t.Errorf("made only %v", known)
			}
			s.stop()
			<-s.done
			if again := offered(t, serve(t, "--database", url).API); len(again) != 0 {
				t.Errorf("%d examples where there is a project", len(again))
			}
		})
	}
}

func TestTheExplorerOffersTheFirstThingsToAnOrganizationThatHasNothing(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	if o := n.init(); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	s := serve(t, "--database", n.env["SLIPWAY_DATABASE"])
	if examples := offered(t, s.API); len(examples) != 6 || strings.Contains(s.Log, "slipway init") {
		t.Errorf("%d examples; %s", len(examples), s.Log)
	}
	must(t, "org", "create", "--database", n.env["SLIPWAY_DATABASE"], "--name", "Other", "--slug", "other")
	s.stop()
	<-s.done
	if examples := offered(t, serve(t, "--database", n.env["SLIPWAY_DATABASE"]).API); len(examples) != 0 {
		t.Errorf("%d examples to several organizations", len(examples))
	}
}

// post sends an operation and returns the answer.
func post(t *testing.T, url, token, query, variables string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": json.RawMessage(variables)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/graphql", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
