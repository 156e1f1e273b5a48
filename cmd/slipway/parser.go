package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"slipway/internal/httpx"
	"slipway/internal/origin"
	"slipway/internal/store/dburl"
)

// parser reads the text of a setting. Its errors say what is wanted and what was found.
type parser[T any] struct {
	// kind names what is wanted in the help.
	kind  string
	parse func(string) (T, error)
}

func unlike(want, found string) error { return fmt.Errorf("want %s, found %q", want, found) }

var (
	text     = parser[string]{"text", parseText}
	boolean  = parser[bool]{"bool", parseBool}
	address  = parser[string]{"HOST:PORT", parseAddress}
	size     = parser[int]{"bytes", parseSize}
	level    = parser[slog.Level]{"debug|info|warn|error", parseLevel}
	baseURL  = parser[string]{"URL", parseBaseURL}
	database = parser[string]{"URL", parseDatabase}
	list     = parser[[]string]{"IDs", parseList}
	networks = parser[[]netip.Prefix]{"CIDRs", parseNetworks}
	origins  = parser[[]origin.Pattern]{"ORIGINS", parseOrigins}

	headerName = parser[string]{"HEADER", parseHeaderName}
)

func parseText(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", unlike("at least one character", s)
	}
	return s, nil
}

// parseList reads texts that commas separate.
func parseList(s string) ([]string, error) {
	items := strings.Split(s, ",")
	for i, item := range items {
		if items[i] = strings.TrimSpace(item); items[i] == "" {
			return nil, unlike("ids that commas separate", s)
		}
	}
	return items, nil
}

func parseBool(s string) (bool, error) {
	switch s {
	case "true", "false":
		return s == "true", nil
	}
	return false, unlike("true or false", s)
}

func parseAddress(s string) (string, error) {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", unlike("HOST:PORT, such as 127.0.0.1:8080", s)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", unlike("HOST:PORT with a port from 0 to 65535", s)
	}
	return s, nil
}

var headerForm = regexp.MustCompile("^[0-9A-Za-z!#$%&'*+.^_`|~-]{1,100}$")

// parseHeaderName reads the name of a header that has no meaning of its own here.
func parseHeaderName(s string) (string, error) {
	if !headerForm.MatchString(s) || strings.EqualFold(s, "Authorization") || strings.EqualFold(s, httpx.OrganizationHeader) {
		return "", unlike("the name of a header other than Authorization, such as X-Api-Key", s)
	}
	return http.CanonicalHeaderKey(s), nil
}

// orEmpty lets a setting be turned off by an empty text.
func orEmpty[T any](p parser[T]) parser[T] {
	return parser[T]{p.kind, func(s string) (none T, err error) {
		if s == "" {
			return none, nil
		}
		return p.parse(s)
	}}
}

func choice[T ~string](values ...T) parser[T] {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return parser[T]{strings.Join(names, "|"), func(s string) (T, error) {
		if !slices.Contains(names, s) {
			return "", unlike("one of "+strings.Join(names, ", "), s)
		}
		return T(s), nil
	}}
}

func parseLevel(s string) (l slog.Level, err error) {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, s) {
		return 0, unlike("one of debug, info, warn, error", s)
	}
	err = l.UnmarshalText([]byte(s))
	return l, err
}

// atLeast reads durations such as 1m30s.
func atLeast(least time.Duration) parser[time.Duration] {
	return parser[time.Duration]{"duration", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < least {
			return 0, unlike(fmt.Sprintf("a duration of at least %s, such as %s", least, max(least, 10*time.Second)), s)
		}
		return d, nil
	}}
}

// durationText writes a duration as people do: 5m, not 5m0s.
func durationText(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-len("0s")]
		}
	}
	return text
}

func between(least, most int) parser[int] {
	return parser[int]{"number", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return 0, unlike(fmt.Sprintf("a number from %d to %d", least, most), s)
		}
		return n, nil
	}}
}

// half is what halfOr reads the word as.
const half = -1

// halfOr takes the word half, or a number as between does.
func halfOr(least, most int) parser[int] {
	numbers := between(least, most)
	return parser[int]{numbers.kind, func(s string) (int, error) {
		if s == "half" {
			return half, nil
		}
		n, err := numbers.parse(s)
		if err != nil {
			return 0, unlike(fmt.Sprintf("half or a number from %d to %d", least, most), s)
		}
		return n, nil
	}}
}

// parseSize reads a number of bytes from 1 KiB to 1 GiB, with the unit KiB or MiB where it has one.
func parseSize(s string) (int, error) {
	digits, unit := s, 1
	for suffix, bytes := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20} {
		if number, ok := strings.CutSuffix(s, suffix); ok {
			digits, unit = number, bytes
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > 1<<30/unit || n*unit < 1<<10 {
		return 0, unlike("a size from 1KiB to 1024MiB, such as 262144 or 256KiB", s)
	}
	return n * unit, nil
}

// sizeText writes a number of bytes with its unit.
func sizeText(bytes int) string {
	if bytes%(1<<20) == 0 {
		return strconv.Itoa(bytes>>20) + "MiB"
	}
	return strconv.Itoa(bytes>>10) + "KiB"
}

// parseBaseURL reads the URL that links start with; it ends without a slash.
func parseBaseURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", unlike("an http or https URL without user, query and fragment", s)
	}
	return strings.TrimRight(s, "/"), nil
}

// parseNetworks reads networks in CIDR notation, between commas.
func parseNetworks(s string) ([]netip.Prefix, error) {
	const want = "networks such as 10.0.0.0/8,2001:db8::/32"
	var list []netip.Prefix
	for text := range strings.SplitSeq(s, ",") {
		text = strings.TrimSpace(text)
		network, err := netip.ParsePrefix(text)
		switch {
		case err != nil:
			return nil, unlike(want, text)
		case network.Addr().Is4In6():
			return nil, fmt.Errorf("want %s, found %q: write the IPv4 network by itself", want, text)
		case network != network.Masked():
			return nil, fmt.Errorf("want %s, found %q: the network is %s", want, text, network.Masked())
		}
		list = append(list, network)
	}
	return list, nil
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
