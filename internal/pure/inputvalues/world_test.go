package inputvalues_test

import (
	"slipway/internal/pure/inputprop/inputtest"
	"slipway/internal/pure/inputrules"
	"slipway/internal/pure/inputvalues"
)

// What the tests of this room write inputs with.
var (
	parse          = inputtest.Parse
	mustDecodeList = inputtest.MustDecodeList
	places         = inputtest.Places
	rulesOf        = inputtest.RulesOf
	in             = inputtest.In
	mapOf          = inputtest.MapOf
	arrayOf        = inputtest.ArrayOf
	reference      = inputtest.Reference
	shown          = inputtest.Shown
	newGenerator   = inputtest.NewGenerator
	errBusy        = inputtest.ErrBusy
	env            = inputtest.Env
)

const (
	sizes    = inputtest.Sizes
	lower    = inputtest.Lower
	listed   = inputtest.Listed
	instance = inputtest.Instance
)

var (
	plain = inputvalues.NewEngine(inputtest.Patterns{})
	rules = inputrules.NewEngine(inputtest.Patterns{})
)
