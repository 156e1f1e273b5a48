package main

// For the tests.
var (
	Run        = run
	Commands   = commands
	VariableOf = variableOf
)
