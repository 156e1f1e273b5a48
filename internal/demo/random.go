package demo

import "time"

// between draws a time of from to to seconds.
func (d *demo) between(from, to int) time.Duration {
	return time.Duration(from)*time.Second + time.Duration(d.random.Int64N(int64(time.Duration(to-from)*time.Second)))
}

// letters draws n small letters and digits, as they are in the cloud's names.
func (d *demo) letters(n int) string { return d.draw("abcdefghijklmnopqrstuvwxyz0123456789", n) }

// digits draws n digits.
func (d *demo) digits(n int) string { return d.draw("123456789", n) }

func (d *demo) draw(alphabet string, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[d.random.IntN(len(alphabet))]
	}
	return string(text)
}
