package httpx_test

import (
	"fmt"
	"math"
	"net/http"
	"testing"

	"slipway/internal/edge/httpx"
)

func ExampleAccept_Preference() {
	accept := httpx.ParseAccept(http.Header{"Accept": {"text/html, application/json;q=0.8", "*/*;q=0.1"}})
	for _, media := range []string{"application/json", "text/html", "image/png"} {
		p := accept.Preference(media)
		fmt.Println(media, p.Quality, p.IsNamed())
	}
	// Output:
	// application/json 0.8 true
	// text/html 1 true
	// image/png 0.1 false
}

func TestTheMostExactRangeDecides(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]struct {
		quality float64
		isNamed bool
	}{
		"":                               {0, false},
		"text/html":                      {0, false},
		"*/*":                            {1, false},
		"*/*;q=0.2, application/*;q=0.1": {0.1, false},
		"application/*, application/json;q=0, */*":            {0, true},
		"APPLICATION/JSON; Q=.5":                              {0.5, true},
		"application/json;q=0.3, application/json;q=0.7":      {0.3, true},
		"application/json; charset=latin1, */*;q=0.4":         {0.4, false},
		"application/json; charset=UTF-8;q=0.4, */*":          {0.4, true},
		"application/json/x, application/json;q, */*;q=0.6":   {0.6, false},
		"application/jsonx, application, application/j*, x/*": {0, false},
		`text/html;a="x, y", application/json;q=0.5`:          {0.5, true},
		`text/html;a="x\", application/json", */*;q=0.2`:      {0.2, false},
		`text/html;a="application/json, */*`:                  {0, false},
		`application/json;profile="a,b";q=0.7`:                {0.7, true},
	} {
		p := httpx.ParseAccept(http.Header{"Accept": {accept}}).Preference(httpx.MediaJSON)
		if p.Quality != want.quality || p.IsNamed() != want.isNamed {
			t.Errorf("%q: %v %t, want %v", accept, p.Quality, p.IsNamed(), want)
		}
	}
}

func TestOnlyStrictLeavesOutWeightsOutOfRange(t *testing.T) {
	t.Parallel()
	for weight, want := range map[string]float64{"2": 2, "-1": -1, "x": math.NaN(), "NaN": math.NaN(), "": math.NaN()} {
		accept := httpx.ParseAccept(http.Header{"Accept": {"*/*;q=0.5", `application/json;q="` + weight + `"`}})
		if got := accept.Preference(httpx.MediaJSON).Quality; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("q=%s: %v, want %v", weight, got, want)
		}
		if got := accept.Strict().Preference(httpx.MediaJSON).Quality; got != 0.5 {
			t.Errorf("q=%s, strictly: %v, want 0.5", weight, got)
		}
	}
	for _, weight := range []string{"0", "1", "0.25"} {
		accept := httpx.ParseAccept(http.Header{"Accept": {"*/*;q=0.5, application/json;q=" + weight}})
		if accept.Preference(httpx.MediaJSON) != accept.Strict().Preference(httpx.MediaJSON) {
			t.Errorf("q=%s is left out", weight)
		}
	}
}

func TestBlankHeadersTakeEveryMediaType(t *testing.T) {
	t.Parallel()
	for _, values := range [][]string{nil, {""}, {" "}} {
		if !httpx.ParseAccept(http.Header{"Accept": values}).IsEmpty() {
			t.Errorf("%q is not empty", values)
		}
	}
	for _, values := range [][]string{{","}, {"", "x"}, {"*/*"}} {
		if httpx.ParseAccept(http.Header{"Accept": values}).IsEmpty() {
			t.Errorf("%q is empty", values)
		}
	}
}
