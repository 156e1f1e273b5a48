package inputprop

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseInt32 reads a JSON number whose value is a whole number of 32 bits, however it is written:
// 1, 1.0, 1e3 and -0 are. Of the error only the text is of use. It works on the digits, for a float would round.
func parseInt32(literal string) (int32, error) {
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

// farExponent stands for every exponent beyond it; a body has fewer digits than that to make up for it.
const farExponent = 1 << 40

// decimal gives the size of a JSON number as digits × 10^exponent, with no zeros at either end of
// digits: "" for zero.
func decimal(literal string) (digits string, exponent int) {
	mantissa, power, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(literal, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if power != "" {
		exponent = clampedExponent(power)
	}
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
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
