package inputprop_test

import (
	"slipway/internal/pure/inputprop/inputtest"
)

// What the tests of this room write inputs with.
var (
	parse          = inputtest.Parse
	decode         = inputtest.Decode
	mustDecode     = inputtest.MustDecode
	mustDecodeList = inputtest.MustDecodeList
	places         = inputtest.Places
	fixture        = inputtest.Fixture
	generic        = inputtest.Generic
	sameJSON       = inputtest.SameJSON
	in             = inputtest.In
	mapOf          = inputtest.MapOf
	reference      = inputtest.Reference
	newGenerator   = inputtest.NewGenerator
	document       = inputtest.Document
)
