package server

// Recovered is the middleware that ends panics.
var Recovered = recovered
