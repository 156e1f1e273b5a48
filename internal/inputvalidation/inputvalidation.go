// Package inputvalidation judges the typed inputs of modules and the values that are given for them: it joins the
// pure rules of package inputprop to what the server knows, which is where a module is deployed, what is
// live there, and the options of dynamic values.
package inputvalidation

import (
	"errors"

	"slipway/internal/catalog"
	"slipway/internal/defaults"
	"slipway/internal/fault"
	"slipway/internal/inputvalidation/valuesource"
	"slipway/internal/jsregexp"
)

// Service checks values, and what is stored. It checks schemas by its SchemaChecker, which the services take that
// save them: so it stands above them, and they need nothing of it.
type Service struct {
	*SchemaChecker
	Catalog     *catalog.Service
	Definitions *defaults.Reader
	Sources     *valuesource.Service
}

// busy turns the refusal of an engine that has too much to do into one that says to try again.
func busy(err error) error {
	if errors.Is(err, jsregexp.ErrBusy) {
		return fault.New(fault.ServerUnavailable, "Too many patterns are being tried at once.")
	}
	return err
}
