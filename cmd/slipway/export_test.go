package main

// Run is run, for the tests.
var Run = run
