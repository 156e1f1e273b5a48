package main

// For the tests.
var (
	Run        = run
	Keep       = keep
	Commands   = commands
	VariableOf = variableOf
)
