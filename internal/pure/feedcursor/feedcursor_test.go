package feedcursor_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/pure/feedcursor"
)

func TestCursorsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 30, 0, 125_000, time.UTC)
	for _, want := range []feedcursor.Cursor{
		{At: at},
		{Position: feedcursor.Position{Transaction: 0, ID: 7}, At: at},
		{Position: feedcursor.Position{Transaction: 1 << 62, ID: 1 << 62}, At: at, Before: true},
	} {
		got, err := feedcursor.Parse(want.String())
		if err != nil || got != want {
			t.Errorf("%v was read as %v, %v", want, got, err)
		}
	}
}

func TestWhatIsNoCursorIsRefused(t *testing.T) {
	t.Parallel()
	good := feedcursor.Cursor{Position: feedcursor.Position{Transaction: 800, ID: 7}, At: time.Unix(1, 0)}.String()
	for _, text := range []string{
		"", "x", good + "A", good[:len(good)-1], "!" + good, strings.Repeat("A", 1000),
		base64.RawURLEncoding.EncodeToString([]byte{1}), base64.RawURLEncoding.EncodeToString([]byte{9, 1, 1, 1}),
		base64.RawURLEncoding.EncodeToString(append([]byte{1}, strings.Repeat("\xff", 30)...)),
	} {
		if c, err := feedcursor.Parse(text); !fault.Is(err, fault.RequestCursorInvalid) {
			t.Errorf("%q was read as %v, %v", text, c, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(feedcursor.Cursor{Position: feedcursor.Position{Transaction: 800, ID: 7}, At: time.Unix(1, 0)}.String())
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := feedcursor.Parse(text); err == nil && c.String() != text {
			t.Errorf("%q is the cursor %v, which is written %q", text, c, c)
		}
	})
}
