package inputrules_test

import (
	"slipway/internal/pure/inputprop/inputtest"
	"slipway/internal/pure/inputrules"
	"slipway/internal/pure/inputvalues"
)

// What the tests of this room write inputs with.
var (
	parse          = inputtest.Parse
	decode         = inputtest.Decode
	mustDecode     = inputtest.MustDecode
	mustDecodeList = inputtest.MustDecodeList
	places         = inputtest.Places
	rulesOf        = inputtest.RulesOf
	fixture        = inputtest.Fixture
	in             = inputtest.In
	mapOf          = inputtest.MapOf
	arrayOf        = inputtest.ArrayOf
	reference      = inputtest.Reference
	shown          = inputtest.Shown
	newGenerator   = inputtest.NewGenerator
	document       = inputtest.Document
	errBusy        = inputtest.ErrBusy
)

const (
	sizes  = inputtest.Sizes
	lower  = inputtest.Lower
	listed = inputtest.Listed
)

var (
	rules  = inputrules.NewEngine(inputtest.Patterns{})
	values = inputvalues.NewEngine(inputtest.Patterns{})
)
