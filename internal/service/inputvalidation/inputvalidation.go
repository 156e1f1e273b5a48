// Package inputvalidation checks the typed inputs of modules and the values that are given for them: it joins the
// rules of packages inputvalues and inputrules, which know nothing but the schema and the values, to what the server
// knows.
//
// A schema is checked before it is saved (SchemaChecker). Values are checked in a Scope, which is where they are
// deployed: its environment gives the templates their names, the instance's live deployment binds the immutable
// inputs (baseline.go), and dynamic values take their options from a source (package valuesource). Validate, Resolve
// and Complete check the same values in the same way, for a form as for a deployment.
package inputvalidation

import (
	"errors"

	"slipway/internal/base/fault"
	"slipway/internal/base/jsregexp"
	"slipway/internal/service/catalog"
	"slipway/internal/service/defaults"
	"slipway/internal/service/inputvalidation/valuesource"
)

// Service checks values, and what is stored. It checks schemas by its SchemaChecker, which the services take that
// save them: so it stands above them, and they need nothing of it.
type Service struct {
	*SchemaChecker
	Catalog     *catalog.Service
	Definitions *defaults.Reader
	Sources     *valuesource.Service
}

// asUnavailable turns the refusal of an engine that has too much to do into one that says to try again.
func asUnavailable(err error) error {
	if errors.Is(err, jsregexp.ErrBusy) {
		return fault.New(fault.ServerUnavailable, "Too many patterns are being tried at once.")
	}
	return err
}
