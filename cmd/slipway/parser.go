package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"slipway/internal/base/setting"
	"slipway/internal/data/store/dburl"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/origin"
	"slipway/internal/pure/module"
)

// What only the server's own commands are set by.
var (
	database   = setting.Parser[string]{Kind: "URL", Parse: parseDatabase}
	origins    = setting.Parser[[]origin.Pattern]{Kind: "ORIGINS", Parse: parseOrigins}
	headerName = setting.Parser[string]{Kind: "HEADER", Parse: parseHeaderName}
	kinds      = setting.Parser[[]string]{Kind: strings.Join(module.DeploymentTypes, ","), Parse: parseKinds}
)

var headerForm = regexp.MustCompile("^[0-9A-Za-z!#$%&'*+.^_`|~-]{1,100}$")

// parseHeaderName reads the name of a header that has no meaning of its own here.
func parseHeaderName(s string) (string, error) {
	isOurs := strings.EqualFold(s, "Authorization") || strings.EqualFold(s, httpx.OrganizationHeader)
	if !headerForm.MatchString(s) || isOurs {
		return "", setting.Unlike("the name of a header other than Authorization, such as X-Api-Key", s)
	}
	return http.CanonicalHeaderKey(s), nil
}

// half is what halfOr reads the word as.
const half = -1

// halfOr takes the word half, or a number as setting.Between does.
func halfOr(least, most int) setting.Parser[int] {
	numbers := setting.Between(least, most)
	return setting.Parser[int]{Kind: numbers.Kind, Parse: func(s string) (int, error) {
		if s == "half" {
			return half, nil
		}
		n, err := numbers.Parse(s)
		if err != nil {
			return 0, setting.Unlike(fmt.Sprintf("half or a number from %d to %d", least, most), s)
		}
		return n, nil
	}}
}

// foreverOr reads durations of at least least, or the word forever, for which it returns 0.
func foreverOr(least time.Duration) setting.Parser[time.Duration] {
	durations := setting.AtLeast(least)
	return setting.Parser[time.Duration]{Kind: durations.Kind, Parse: func(s string) (time.Duration, error) {
		if s == "forever" {
			return 0, nil
		}
		d, err := durations.Parse(s)
		if err != nil {
			want := fmt.Sprintf("forever or a duration of at least %s, such as 2160h", setting.DurationText(least))
			return 0, setting.Unlike(want, s)
		}
		return d, nil
	}}
}

// parseOrigins reads origins, between commas.
func parseOrigins(s string) (list []origin.Pattern, err error) {
	for text := range strings.SplitSeq(s, ",") {
		p, err := origin.Parse(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func parseKinds(s string) ([]string, error) {
	list := strings.Split(s, ",")
	for _, kind := range list {
		if !slices.Contains(module.DeploymentTypes, kind) {
			return nil, setting.Unlike("one or more of "+strings.Join(module.DeploymentTypes, ", ")+" with commas between", s)
		}
	}
	return list, nil
}

// parseDatabase checks a database's URL. The error shows no more of it than its scheme, since the rest
// may have a password.
func parseDatabase(s string) (string, error) {
	if err := dburl.Check(s); err != nil {
		scheme, _, cut := strings.Cut(s, ":")
		if cut {
			scheme += ":…"
		} else if strings.ContainsAny(s, "@= ") {
			scheme = "…"
		}
		return "", fmt.Errorf("%w, found %q", err, scheme)
	}
	return s, nil
}
