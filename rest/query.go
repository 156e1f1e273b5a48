package rest

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"slipway/internal/fault"
)

// query gives the parameters of the query string. Each of them must be one of the operation's, and be
// there once, with a value; whatever is wrong is told at once.
func (r request) query(allowed ...string) (map[string]string, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.New(fault.RequestMalformed, "The query string cannot be read: an escape is broken, or a semicolon is not escaped.").Because(err)
	}
	given := make(map[string]string, len(values))
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list := values[name]
		switch {
		case !slices.Contains(allowed, name):
			wrong = append(wrong, fmt.Sprintf("%.60q: is not a parameter here; %s", name, choice(allowed)))
		case len(list) > 1:
			wrong = append(wrong, fmt.Sprintf("%s: must be given once, found %d times", name, len(list)))
		case list[0] == "":
			wrong = append(wrong, name+": must not be empty; leave it out instead")
		default:
			given[name] = list[0]
		}
	}
	return given, badQuery(fault.RequestMalformed, wrong)
}

func choice(allowed []string) string {
	if len(allowed) == 0 {
		return "the operation takes none"
	}
	return "allowed are " + strings.Join(allowed, ", ")
}

// badQuery is the refusal of parameters, nil where nothing is wrong with them.
func badQuery(code fault.Code, wrong []string) error {
	if len(wrong) == 0 {
		return nil
	}
	refusal := fault.New(code, "The query string is not valid.")
	refusal.Details = []fault.Section{{Title: "Query parameters", Render: fault.RenderList, Items: wrong}}
	return refusal
}
