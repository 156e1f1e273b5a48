// Package delivery asks Slipway for deployments that failed, and for the screens of a dashboard, by code that genqlient
// generates.
package delivery

import (
	"net/http"
	"time"

	"github.com/Khan/genqlient/graphql"
)

//go:generate go tool genqlient genqlient.yaml

// New returns a client for an endpoint, such as https://slipway.example.com/graphql, whose requests bear a token.
func New(endpoint, token string) graphql.Client {
	return graphql.NewClient(endpoint, &http.Client{Transport: bearer(token), Timeout: time.Minute})
}

// bearer is the token of each request.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
