package origin

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// Parse parses an entry of the list of allowed origins: an origin exactly as browsers send it, http://localhost:* for
// any port of a loopback host, or * for every origin. Its errors say what is wanted and what was found.
func Parse(text string) (Pattern, error) {
	if text == "*" {
		return Pattern{}, nil
	}

	scheme, rest, cut := strings.Cut(text, "://")
	switch {
	case text == "null":
		return Pattern{}, invalid("an origin; null is what every sandboxed page sends, and only * allows it", text)
	case !isASCII(text):
		return Pattern{}, invalid("an origin in ASCII, as browsers send it: names in other letters begin with xn--", text)
	case strings.ToLower(text) != text:
		return Pattern{}, invalid("an origin in lower case, as browsers send it: "+strings.ToLower(text), text)
	case !cut || defaultPorts[scheme] == "":
		return Pattern{}, invalid("an origin such as https://app.example or http://localhost:*, or *", text)
	case strings.ContainsAny(rest, "/?#@"):
		return Pattern{}, invalid("an origin, which has no user, path, query or slash at its end", text)
	}

	host, port, ported := cutPort(rest)
	if err := checkHost(host, text); err != nil {
		return Pattern{}, err
	}

	switch {
	case !ported:
		return Pattern{origin: text}, nil
	case port == "*" && isLoopback(host):
		return Pattern{origin: scheme + "://" + host, anyPort: true}, nil
	case port == "*":
		return Pattern{}, invalid("a port; * stands for any port of a loopback host alone", text)
	case !isPort(port):
		return Pattern{}, invalid("a port from 1 to 65535", text)
	case port == defaultPorts[scheme]:
		return Pattern{}, invalid("an origin without the port that its scheme has anyway, "+
			"as browsers send it: "+scheme+"://"+host, text)
	}
	return Pattern{origin: text}, nil
}

func invalid(want, found string) error { return fmt.Errorf("want %s, found %q", want, found) }

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// cutPort splits a host from its port. The colons of an IPv6 address are between brackets.
func cutPort(host string) (name, port string, ported bool) {
	at := strings.LastIndexByte(host, ':')
	if at < 0 || strings.HasSuffix(host, "]") {
		return host, "", false
	}
	return host[:at], host[at+1:], true
}

// isPort reports whether a text is a port as browsers write it.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == text
}

var (
	// name matches the name of a host; browsers accept _ in it, though the standard does not.
	name = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
	// numeric matches what browsers take for an IPv4 address, however it is written, by its end.
	numeric = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)
)

// checkHost returns an error for what is not a host as browsers write it.
func checkHost(host, text string) error {
	inner, bracketed := strings.CutPrefix(host, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	switch {
	case strings.Contains(host, "*"):
		return invalid("the name of one host; * stands alone, or for the port of a loopback host", text)
	case bracketed && closed:
		return checkAddress(inner, text, netip.Addr.Is6)
	case numeric.MatchString(host):
		return checkAddress(host, text, netip.Addr.Is4)
	case len(host) > 253 || !name.MatchString(host):
		return invalid("the name or address of a host", text)
	}
	return nil
}

func checkAddress(address, text string, isKind func(netip.Addr) bool) error {
	a, err := netip.ParseAddr(address)
	switch {
	case err != nil || !isKind(a) || a.Zone() != "" || a.Is4In6():
		return invalid("the name or address of a host", text)
	case a.String() != address:
		return invalid("the address as browsers write it: "+a.String(), text)
	}
	return nil
}

// isLoopback reports whether a host is the machine that the browser runs on.
func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.IsLoopback()
}
