package release

import (
	"math"
	"strconv"
	"strings"
)

// NumberPrecision is what is wrong with a number that is not the same as a double; it has a place for it.
const NumberPrecision = "must be a number that a double holds exactly, found %s: send it as a string"

// IsExact reports whether a release keeps a JSON number as it is: whether a double holds it exactly.
func IsExact(literal string) bool {
	_, exact := canonicalNumber(literal)
	return exact
}

// canonicalNumber writes a JSON number as ECMAScript does (RFC 8785, section 3.2.2.3), and says whether
// that is still the same decimal value. It is not where a double cannot hold the number.
func canonicalNumber(literal string) (text string, exact bool) {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return "", false
	}
	text = formatNumber(f)
	return text, decimalOf(literal) == decimalOf(text)
}

func formatNumber(f float64) string {
	if f == 0 {
		return "0" // also for -0
	}
	if size := math.Abs(f); size >= 1e-6 && size < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	// Go pads a short exponent to two digits, ECMAScript does not.
	return strings.Replace(strconv.FormatFloat(f, 'e', -1, 64), "e-0", "e-", 1)
}

// decimal is the size of a number exactly as written: 0.digits times ten to the power of exponent, the
// digits without zeros at either end; zero has none. Equal sizes are equal decimals. A sign is never
// lost, so it is not looked at.
type decimal struct {
	digits   string
	exponent int
}

func decimalOf(literal string) decimal {
	mantissa, power, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(literal, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	significant := strings.TrimLeft(all, "0")
	digits := strings.TrimRight(significant, "0")
	if digits == "" {
		return decimal{}
	}
	// A power that is no int stays far outside the range of doubles, so it never compares equal.
	exponent, _ := strconv.Atoi(power)
	return decimal{digits, exponent + len(whole) - (len(all) - len(significant))}
}
