// Package requests has the requests whose speed is measured: what is sent, and what the right answer is.
package requests

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"

	"slipway/bench/data"
)

// Kind is one kind of request.
type Kind struct {
	// Name is how it is called in tables, Title what it asks for.
	Name, Title string
	// Writes is set for what writes the rows of a rollback.
	Writes bool

	// file is that of the GraphQL document, empty for a request of REST, and document its text.
	file, document string
	// draw returns the calls of one connection, one after the other, and false when there are no more.
	draw func(w data.World, s Share) func() (Call, bool)
	// want returns what the data of the answer are to be.
	want func(w data.World, subject int) any
}

// Call is one request.
type Call struct {
	// Token is the text of the caller's token.
	Token string
	// Method and Path are those of HTTP.
	Method, Path string
	// Variables are those of the GraphQL document, a JSON object.
	Variables string
	// Status is that of the right answer.
	Status int
	// Key is in every right answer, and Mark is there so many times.
	Key, Mark string
	Marks     int

	subject int
}

// Share is what one of several connections asks for: each has organizations of its own, as far as there are enough.
type Share struct {
	Connection, Of int
	// Seed varies what is drawn.
	Seed uint64
}

// random returns the source of what a connection draws.
func (s Share) random() *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed, uint64(s.Connection)))
}

// has reports whether the share has an organization.
func (s Share) has(organization int) bool {
	if s.Of > data.Organizations {
		return organization == s.Connection%data.Organizations
	}
	return organization%s.Of == s.Connection
}

// All returns every kind, in the order of the table. The twins of REST are beside what they are compared with.
func All() []*Kind {
	return withDocuments(
		&Kind{Name: "A", Title: "a deployment, 12 fields", file: "A.graphql", draw: deployments(""), want: wantDeployment},
		&Kind{
			Name: "A rest", Title: "GET /deployments/{id}, with its data", draw: deployments("/deployments/"),
			want: wantDeploymentOfREST,
		},
		&Kind{Name: "B", Title: "a deployment's data of 4 KB", file: "B.graphql", draw: deployments(""), want: wantData},
		&Kind{Name: "C", Title: "50 deployments of an environment", file: "C.graphql", draw: environments, want: wantPage},
		&Kind{
			Name: "CL", Title: "the same of the largest environment", file: "C.graphql", draw: largeEnvironment, want: wantPage,
		},
		&Kind{Name: "D", Title: "50 module definitions", file: "D.graphql", draw: organizations(""), want: wantDefinitions},
		&Kind{
			Name: "D rest", Title: "GET /module-definitions?limit=50, with the count of all",
			draw: organizations("/module-definitions?limit=50"), want: wantDefinitionsOfREST,
		},
		&Kind{Name: "M", Title: "a rollback", Writes: true, file: "M.graphql", draw: rollbacks(""), want: wantRollback},
		&Kind{
			Name: "M rest", Title: "POST /deployments/{id}/rollback", Writes: true, draw: rollbacks("/deployments/"),
			want: wantRollbackOfREST,
		},
		&Kind{Name: "S", Title: "a screen of six root fields", file: "S.graphql", draw: screens, want: wantScreen},
	)
}

// REST reports whether it is a request of REST.
func (k *Kind) REST() bool { return k.file == "" }

// Calls returns the calls of one connection, one after the other, and false when there are no more.
func (k *Kind) Calls(w data.World, s Share) func() (Call, bool) { return k.draw(w, s) }

// HTTP returns a call as it is sent to a host.
func (k *Kind) HTTP(host string, c Call) ([]byte, error) {
	text := head(host, c)
	if k.REST() {
		if c.Method == http.MethodPost {
			text += "Content-Length: 0\r\n"
		}
		return []byte(text + "\r\n"), nil
	}
	query, err := json.Marshal(k.document)
	if err != nil {
		return nil, fmt.Errorf("the document of %s: %w", k.Name, err)
	}
	return graphQL(text, `{"query":`+string(query)+`,"variables":`+c.Variables+`}`), nil
}

// Greeting returns the simplest request of GraphQL.
func Greeting(host, token string) []byte {
	return graphQL(head(host, post(token, "")), `{"query":"{ __typename }"}`)
}

// head returns the beginning of a request.
func head(host string, c Call) string {
	return c.Method + " " + c.Path + " HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + c.Token +
		"\r\nAccept: application/json\r\n"
}

func graphQL(head, body string) []byte {
	return []byte(
		head + "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body,
	)
}

// Check returns what is wrong with the body of the answer to a call, whole.
func (k *Kind) Check(w data.World, c Call, body []byte) error {
	var answer struct {
		Data   any
		Errors json.RawMessage
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	if answer.Errors != nil {
		return fmt.Errorf("it has errors: %.300s", answer.Errors)
	}
	return compare("data", k.want(w, c.subject), answer.Data)
}
