package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"

	"slipway/internal/base/setting"
	"slipway/internal/remote/cli/document"
)

// screen is what a stream can show.
type screen struct {
	// width is how many columns the terminal has; 0 if there is none, and everything is shown in full.
	width int
	color bool
}

// descriptor is a file as far as a terminal is concerned.
type descriptor interface{ Fd() uintptr }

// terminal returns the file descriptor of a stream that is a terminal.
func terminal(stream any) (fd int, ok bool) {
	f, ok := stream.(descriptor)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	return int(f.Fd()), true
}

// newScreen returns what out can show.
func newScreen(out io.Writer, env setting.Environment, wantColor bool) screen {
	fd, ok := terminal(out)
	if !ok {
		return screen{}
	}
	width, _, err := term.GetSize(fd)
	if err != nil || width <= 0 {
		width = 80
	}
	kind, _ := env("TERM")
	never, _ := env("NO_COLOR")
	return screen{width: width, color: wantColor && kind != "dumb" && never == ""}
}

// styles are how words look that tell how something stands.
var styles = map[string]string{
	"SUCCEEDED": "32", "ACTIVE": "32", "RUNNING": "36", "PENDING": "36", "DRAFT": "2", "FAILED": "31", "CANCELED": "33",
	"AWAITING_APPROVAL": "35",
	"+":                 "32", "-": "31", "~": "33",
}

// paint returns a cell, padded already, in the colour of its word.
func (s screen) paint(cell string) string {
	if style := styles[strings.TrimRight(cell, " ")]; s.color && style != "" {
		return "\x1b[" + style + "m" + cell + "\x1b[0m"
	}
	return cell
}

// safe returns a text from elsewhere as it may be shown on a terminal or in the log of a pipeline: what would control
// it, or turn the direction of what is written, shows as \u{…}, and so does the beginning of a command to the
// pipeline's service. Line ends do, too.
func safe(text string) string {
	return document.Disarm(visible(text), func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) })
}

// visible is safe for a text that may be a command to a pipeline's service.
func visible(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if !strings.ContainsFunc(text, document.Unseen) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if document.Unseen(r) {
			fmt.Fprintf(&b, `\u{%x}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeJSON returns a JSON text with the characters of its strings that safe would replace as \u escapes, which
// programs read as the same. Line feeds outside of strings stay.
func escapeJSON(text string) string {
	text = document.Disarm(text, func(r rune) string { return fmt.Sprintf(`\u%04x`, r) })
	outside := func(r rune) bool { return r != '\n' && document.Unseen(r) }
	if !strings.ContainsFunc(text, outside) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !outside(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func widthOf(text string) int { return displaywidth.String(text) }

// cut returns as much of a text as fits, with an ellipsis if that is not all.
func cut(text string, width int) string {
	if widthOf(text) <= width {
		return text
	}
	var b strings.Builder
	left := width - 1
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		if left -= g.Width(); left < 0 {
			break
		}
		b.WriteString(g.Value())
	}
	return b.String() + "…"
}

// age tells how long ago a moment is, or how long it is to it, in the largest unit.
func age(at, now time.Time, past bool) string {
	d := now.Sub(at)
	if past {
		d = max(d, 0)
	}

	before, after := "", " ago"
	if d < 0 {
		d, before, after = -d, "in ", ""
	}

	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"year", 365 * 24 * time.Hour}, {"month", 30 * 24 * time.Hour}, {"day", 24 * time.Hour}, {"hour", time.Hour},
		{"minute", time.Minute}, {"second", time.Second}} {
		if n := int(d / unit.of); n > 0 {
			if n > 1 {
				unit.name += "s"
			}
			return fmt.Sprintf("%s%d %s%s", before, n, unit.name, after)
		}
	}
	return "now"
}

// safeTabs is safe, but for tabs, which programs line their texts up with.
func safeTabs(text string) string {
	parts := strings.Split(text, "\t")
	for i := range parts {
		parts[i] = safe(parts[i])
	}
	return strings.Join(parts, "\t")
}
