package main

import "slipway/internal/setting"

// For the tests.
var (
	Run        = run
	Keep       = keep
	Commands   = commands
	VariableOf = setting.VariableOf
)
