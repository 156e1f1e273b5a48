package server

import "github.com/go-chi/chi/v5"

// Recovered is the middleware that ends panics, CutStalled the one that ends stalled connections.
var (
	Recovered  = recovered
	CutStalled = cutStalled
)

// Routes are those of the API and its pages.
func (s *Server) Routes() chi.Routes { return s.handler.(chi.Routes) }
