package strictjson

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseInt32 reads a JSON number whose value is a whole number of 32 bits, however it is written: 1, 1.0, 1e3 and -0
// are. The text of the error is for a message. It works on the digits, for a float would round.
func ParseInt32(literal string) (int32, error) {
	digits, exponent := decimal(literal)
	switch {
	case digits == "":
		return 0, nil
	case exponent < 0:
		return 0, errors.New("must be a whole number")
	case len(digits)+exponent <= 10:
		value, err := strconv.ParseInt(digits+strings.Repeat("0", exponent), 10, 64)
		if strings.HasPrefix(literal, "-") {
			value = -value
		}
		if err == nil && value >= math.MinInt32 && value <= math.MaxInt32 {
			return int32(value), nil
		}
	}
	return 0, fmt.Errorf("must be between %d and %d", math.MinInt32, math.MaxInt32)
}

// NumberPrecision is what is wrong with a number that is not exact; it has a place for the number.
const NumberPrecision = "must be a number that a double holds exactly, found %s: send it as a string"

// IsExact reports whether a double holds a JSON number exactly, so that it has a canonical form.
func IsExact(literal string) bool {
	if isShort(literal) {
		return true
	}
	_, exact := canonicalNumber(literal)
	return exact
}

// isShort reports whether a number is so written that it is canonical at a glance: a few digits, as most are.
func isShort(literal string) bool {
	const exact = 15 // digits that every double keeps
	if literal == "" || len(literal) > exact || literal[0] == '0' && len(literal) > 1 {
		return false
	}
	for i := range len(literal) {
		if literal[i] < '0' || literal[i] > '9' {
			return false
		}
	}
	return true
}

// canonicalNumber writes a JSON number as ECMAScript does (RFC 8785, section 3.2.2.3), and reports whether that is
// still the same decimal value. It is not where a double cannot hold the number.
func canonicalNumber(literal string) (text string, exact bool) {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return "", false
	}
	text = formatFloat(f)
	digits, exponent := decimal(literal)
	canonicalDigits, canonicalExponent := decimal(text)
	return text, digits == canonicalDigits && exponent == canonicalExponent
}

// formatFloat writes a number as ECMAScript's Number.prototype.toString does.
func formatFloat(f float64) string {
	if f == 0 {
		return "0" // also for -0
	}
	if size := math.Abs(f); size >= 1e-6 && size < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	// Go pads a short exponent to two digits, ECMAScript does not.
	return strings.Replace(strconv.FormatFloat(f, 'e', -1, 64), "e-0", "e-", 1)
}

// farExponent stands for every exponent beyond it; a body has fewer digits than that to make up for it.
const farExponent = 1 << 40

// decimal returns the size of a JSON number, without its sign, as digits × 10^exponent, with no zeros at either end of
// digits: "" and 0 for zero. Equal sizes have equal results.
func decimal(literal string) (digits string, exponent int) {
	mantissa, power, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(literal, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if power != "" {
		exponent = clampedExponent(power)
	}
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "", 0
	}
	trimmed := strings.TrimRight(digits, "0")
	return trimmed, exponent + len(digits) - len(trimmed)
}

func clampedExponent(power string) int {
	value, err := strconv.Atoi(power)
	switch {
	case err == nil && value > -farExponent && value < farExponent:
		return value
	case strings.HasPrefix(power, "-"):
		return -farExponent
	default:
		return farExponent
	}
}
