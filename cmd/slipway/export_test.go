package main

import (
	"io"
	"log"
	"net/http"

	"slipway/internal/base/setting"
)

// For the tests.
var (
	Run        = run
	Keep       = keep
	Commands   = commands
	Reachable  = reachable
	VariableOf = setting.VariableOf
	NewKeyPair = newKeyPair
)

// KeyPair is a certificate and its key, from files that may change.
type KeyPair = keyPair

// Look is what watch does from time to time.
var Look = (*keyPair).look

// Config is how to serve TLS with a pair.
var Config = (*keyPair).config

// Aside returns the http.Server of what is not the API.
func Aside(h http.Handler) *http.Server { return aside(h, log.New(io.Discard, "", 0)) }
