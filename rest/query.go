package rest

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"slipway/internal/base/fault"
)

// parameters are those of a query string, and what is wrong with them: a violation's pointer is the parameter's
// name behind a slash.
type parameters struct {
	given map[string]string
	// code is that of the refusal: whether the string is malformed, or values of it are wrong.
	code  fault.Code
	wrong fault.Violations
}

// query reads the parameters of the query string. Each of them must be one of the operation's, and be there once,
// with a value.
func (r request) query(allowed ...string) (*parameters, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.New(fault.RequestMalformed, "The query string cannot be read: an escape is broken, or a semicolon "+
			"is not escaped.").WithCause(err)
	}

	p := &parameters{given: make(map[string]string, len(allowed)), code: fault.RequestInvalid}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list := values[name]
		switch {
		case !slices.Contains(allowed, name):
			p.addMalformed(name, "unknown_parameter", "is not a parameter here; %s", choice(allowed))
		case len(list) > 1:
			p.addMalformed(name, "repeated", "must be given once, found %d times", len(list))
		case list[0] == "":
			p.addMalformed(name, "min_length", "must not be empty; leave it out instead")
		default:
			p.given[name] = list[0]
		}
	}

	return p, nil
}

// addMalformed adds what is wrong with the query string itself.
func (p *parameters) addMalformed(name, rule, format string, args ...any) {
	p.code = fault.RequestMalformed
	p.addViolation(name, rule, format, args...)
}

// addViolation adds what is wrong with the value of a parameter.
func (p *parameters) addViolation(name, rule, format string, args ...any) {
	p.wrong.Add(fault.Pointer(name), rule, format, args...)
}

// err returns the error with everything that is wrong, nil if nothing is.
func (p *parameters) err() error {
	if p.wrong.Count() == 0 {
		return nil
	}
	return fault.Invalid(p.code, p.wrong.All("")...)
}

// choice returns the part of a message that names the allowed parameters.
func choice(allowed []string) string {
	if len(allowed) == 0 {
		return "the operation takes none"
	}
	return "allowed are " + strings.Join(allowed, ", ")
}
