package setting

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parser reads the text of a setting. Its errors say what is wanted and what was found.
type Parser[T any] struct {
	// Kind names what is wanted in the help.
	Kind  string
	Parse func(string) (T, error)
}

// Unlike returns the error of a text that is not what is wanted.
func Unlike(want, found string) error { return fmt.Errorf("want %s, found %q", want, found) }

// The parsers that need no bounds.
var (
	Text     = Parser[string]{"text", parseText}
	File     = Parser[string]{"FILE", parseText}
	Bool     = Parser[bool]{"bool", parseBool}
	Address  = Parser[string]{"HOST:PORT", parseAddress}
	Size     = Parser[int]{"bytes", parseSize}
	Level    = Parser[slog.Level]{"debug|info|warn|error", parseLevel}
	BaseURL  = Parser[string]{"URL", parseBaseURL}
	List     = Parser[[]string]{"IDs", parseList}
	Networks = Parser[[]netip.Prefix]{"CIDRs", parseNetworks}
	Token    = Parser[string]{"token", parseToken}
)

func parseText(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", Unlike("at least one character", s)
	}
	return s, nil
}

// parseList reads texts that commas separate.
func parseList(s string) ([]string, error) {
	items := strings.Split(s, ",")
	for i, item := range items {
		if items[i] = strings.TrimSpace(item); items[i] == "" {
			return nil, Unlike("ids that commas separate", s)
		}
	}
	return items, nil
}

func parseBool(s string) (bool, error) {
	switch s {
	case "true", "false":
		return s == "true", nil
	}
	return false, Unlike("true or false", s)
}

func parseAddress(s string) (string, error) {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", Unlike("HOST:PORT, such as 127.0.0.1:8080", s)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", Unlike("HOST:PORT with a port from 0 to 65535", s)
	}
	return s, nil
}

// OrEmpty lets a setting be turned off by an empty text.
func OrEmpty[T any](p Parser[T]) Parser[T] {
	return Parser[T]{p.Kind, func(s string) (none T, err error) {
		if s == "" {
			return none, nil
		}
		return p.Parse(s)
	}}
}

// Choice reads one of the given values.
func Choice[T ~string](values ...T) Parser[T] {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return Parser[T]{strings.Join(names, "|"), func(s string) (T, error) {
		if !slices.Contains(names, s) {
			return "", Unlike("one of "+strings.Join(names, ", "), s)
		}
		return T(s), nil
	}}
}

// Each reads one value of a flag that may be given more than once.
func Each[T any](p Parser[T]) Parser[[]T] {
	return Parser[[]T]{p.Kind, func(s string) ([]T, error) {
		v, err := p.Parse(s)
		return []T{v}, err
	}}
}

func parseLevel(s string) (l slog.Level, err error) {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, s) {
		return 0, Unlike("one of debug, info, warn, error", s)
	}
	err = l.UnmarshalText([]byte(s))
	return l, err
}

// AtLeast reads durations such as 1m30s.
func AtLeast(least time.Duration) Parser[time.Duration] {
	return Parser[time.Duration]{"duration", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < least {
			return 0, Unlike(fmt.Sprintf("a duration of at least %s, such as %s", least, max(least, 10*time.Second)), s)
		}
		return d, nil
	}}
}

// DurationText writes a duration as people do: 5m, not 5m0s.
func DurationText(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-len("0s")]
		}
	}
	return text
}

// Between reads whole numbers.
func Between(least, most int) Parser[int] {
	return Parser[int]{"number", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return 0, Unlike(fmt.Sprintf("a number from %d to %d", least, most), s)
		}
		return n, nil
	}}
}

// parseSize reads a number of bytes from 1 KiB to 1 GiB, with the unit KiB or MiB if it has one.
func parseSize(s string) (int, error) {
	digits, unit := s, 1
	for suffix, bytes := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20} {
		if number, ok := strings.CutSuffix(s, suffix); ok {
			digits, unit = number, bytes
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > 1<<30/unit || n*unit < 1<<10 {
		return 0, Unlike("a size from 1KiB to 1024MiB, such as 262144 or 256KiB", s)
	}
	return n * unit, nil
}

// SizeText writes a number of bytes with its unit.
func SizeText(bytes int) string {
	if bytes%(1<<20) == 0 {
		return strconv.Itoa(bytes>>20) + "MiB"
	}
	return strconv.Itoa(bytes>>10) + "KiB"
}

// parseBaseURL reads the URL that links start with; it ends without a slash.
func parseBaseURL(s string) (string, error) {
	u, err := url.Parse(s)
	isWrong := err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != ""
	if isWrong {
		if u != nil && u.User != nil {
			s = u.Redacted() // as what is said is kept in logs
		}
		return "", Unlike("an http or https URL without user, query and fragment", s)
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
			return nil, Unlike(want, text)
		case network.Addr().Is4In6():
			return nil, fmt.Errorf("want %s, found %q: write the IPv4 network by itself", want, text)
		case network != network.Masked():
			return nil, fmt.Errorf("want %s, found %q: the network is %s", want, text, network.Masked())
		}
		list = append(list, network)
	}
	return list, nil
}

// parseToken takes what can stand in a header. The error does not show what was found.
func parseToken(s string) (string, error) {
	outside := func(r rune) bool { return r <= ' ' || r > '~' }
	if s == "" {
		return "", errors.New("want a token such as slp_runner_…, found nothing")
	}
	if strings.ContainsFunc(s, outside) {
		return "", fmt.Errorf("want a token such as slp_runner_…, found %d bytes that are none", len(s))
	}
	return s, nil
}
