package httpx

import (
	"net/http"
	"strconv"
	"strings"
)

// AcceptsGzip reports whether the caller would rather have an answer compressed by gzip than as it is, by its
// Accept-Encoding headers (RFC 9110, 12.5.3). Without them it would not: "any coding will do" comes from many who
// cannot read one.
func AcceptsGzip(h http.Header) bool {
	headers := h["Accept-Encoding"]
	return len(headers) > 0 && prefersGzip(headers)
}

func prefersGzip(headers []string) bool {
	const plain, gzip, other = 0, 1, 2
	weights := [...]float64{-1, -1, -1} // that of what is not named

	for _, header := range headers {
		for element := range elements(header) {
			name, parameter, _ := strings.Cut(element, ";")
			weight, ok := codingWeight(parameter)
			if !ok {
				continue
			}

			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				weights[gzip] = weight
			case identity:
				weights[plain] = weight
			case "*":
				weights[other] = weight
			}
		}
	}

	if weights[gzip] < 0 {
		weights[gzip] = weights[other]
	}
	return weights[gzip] > 0 && weights[gzip] >= weights[plain]
}

// codingWeight returns the weight that is the parameter of a content coding, 1 if there is none, and whether it is a
// number from 0 to 1.
func codingWeight(parameter string) (weight float64, ok bool) {
	parameter = strings.TrimSpace(parameter)
	if parameter == "" {
		return 1, true
	}
	name, value, found := strings.Cut(parameter, "=")
	if !found || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 0, false
	}
	weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return weight, err == nil && weight >= 0 && weight <= 1
}
