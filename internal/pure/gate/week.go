package gate

import (
	"math/bits"
	"slices"
	"time"
)

const (
	dayTime  = 24 * 60 // minutes
	weekTime = 7 * dayTime

	wordBits = 64
	// weekWords are the words of a week's minutes, of which the last is half empty.
	weekWords = (weekTime + wordBits - 1) / wordBits
)

// week is a set of minutes of the week, counted from the beginning of Sunday. Sets of many rules are intersected word
// by word, so the work does not depend on how many spans each of them has.
type week [weekWords]uint64

// everyMinute returns the set of all minutes.
func everyMinute() (w week) {
	w.add(0, weekTime)
	return w
}

// add adds the minutes from one until another, both within one week.
func (w *week) add(from, until int) {
	for at := from; at < until; {
		word, bit := at/wordBits, at%wordBits
		n := min(wordBits-bit, until-at)
		w[word] |= (^uint64(0) >> (wordBits - n)) << bit
		at += n
	}
}

// addCyclic adds the minutes from one until another, which may be after the end of the week.
func (w *week) addCyclic(from, until int) {
	w.add(from, min(until, weekTime))
	if until > weekTime {
		w.add(0, until-weekTime)
	}
}

// intersect removes the minutes that another set does not have.
func (w *week) intersect(other *week) {
	for i := range w {
		w[i] &= other[i]
	}
}

// has reports whether a minute is in the set.
func (w *week) has(minute int) bool { return w[minute/wordBits]>>(minute%wordBits)&1 == 1 }

// isEmpty reports whether the set has no minute.
func (w *week) isEmpty() bool { return *w == week{} }

// rotated returns the set whose minute 0 is a minute of this one.
func (w *week) rotated(by int) (r week) {
	if by == 0 {
		return *w
	}
	for from := 0; from < weekTime; { // a run of bits that is within one word of both
		at := (from + by) % weekTime
		n := min(wordBits-from%wordBits, wordBits-at%wordBits, weekTime-from, weekTime-at)
		run := w[at/wordBits] >> (at % wordBits) & (^uint64(0) >> (wordBits - n))
		r[from/wordBits] |= run << (from % wordBits)
		from += n
	}
	return r
}

// wait returns in how many minutes a minute is in the set: 0 if it is itself, and up to a week. The set must not be
// empty.
func (w *week) wait(minute int) int {
	for waited := 0; waited <= weekTime; {
		at := (minute + waited) % weekTime
		if rest := w[at/wordBits] >> (at % wordBits); rest != 0 {
			return waited + bits.TrailingZeros64(rest)
		}
		waited += min(wordBits-at%wordBits, weekTime-at)
	}
	return weekTime
}

// minuteOfWeek returns the minute of the week that a clock shows.
func minuteOfWeek(wall time.Time) int {
	return int(wall.Weekday())*dayTime + wall.Hour()*60 + wall.Minute()
}

// minutes returns the minutes of the week that the spans consist of.
func (h *Hours) minutes() (w week) {
	for _, s := range h.Spans {
		from, _ := minuteOf(s.From)
		to, _ := minuteOf(s.To)
		if to <= from {
			to += dayTime
		}
		for _, day := range s.Days {
			start := slices.Index(Weekdays, day) * dayTime
			w.addCyclic(start+from, start+to)
		}
	}
	return w
}
