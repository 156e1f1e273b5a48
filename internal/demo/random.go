package demo

import (
	"math/rand/v2"
	"time"
)

// chance draws what differs from one deployment to the next.
type chance struct{ *rand.Rand }

// between draws a time of from to to seconds.
func (c chance) between(from, to float64) time.Duration {
	return time.Duration((from + c.Float64()*(to-from)) * float64(time.Second))
}

// letters draws n small letters and digits, as they are in the cloud's names.
func (c chance) letters(n int) string { return c.draw("abcdefghijklmnopqrstuvwxyz0123456789", n) }

// digits draws n digits.
func (c chance) digits(n int) string { return c.draw("123456789", n) }

func (c chance) draw(alphabet string, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[c.IntN(len(alphabet))]
	}
	return string(text)
}
