package report

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
)

// The measures of the picture, in pixels.
const (
	svgMargin  = 24
	svgHead    = 96
	svgColumns = 2
	svgName    = 172
	svgBar     = 210
	svgNumber  = 48
	svgPanel   = svgName + svgBar + svgNumber
	svgRow     = 20
	svgGap     = 36
	svgTitle   = 30
)

// style has the colours for light and for dark surroundings.
const style = `<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 18px; font-weight: 600 } .request { font-size: 13px; font-weight: 600 } .note { fill: #59636e }
.paper { fill: #ffffff } .rest { fill: #eff1f3 }
.ours { fill: #0b6bcb } .floor { fill: #2da44e } .peer { fill: #c9691c } .ceiling { fill: #818b98 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .note { fill: #9198a1 } .paper { fill: #0d1117 } .rest { fill: #212830 }
.ours { fill: #4aa3ff } .floor { fill: #3fb950 } .peer { fill: #f0883e } .ceiling { fill: #9198a1 }
}
</style>
`

// SVG writes a picture of the ratios to the ceiling: a panel for each request that has one, with a bar for each target.
func (r *Report) SVG(out io.Writer) error {
	var requests []Title
	for _, request := range r.Requests {
		if r.find(request.Name, r.Ceiling) != nil {
			requests = append(requests, request)
		}
	}
	panel := svgTitle + svgRow*len(r.Targets)
	lines := (len(requests) + svgColumns - 1) / svgColumns
	width, height := 2*svgMargin+svgColumns*(svgPanel+svgGap)-svgGap, svgHead+lines*(panel+svgGap)
	const title = "Requests a second, as a ratio of what PostgreSQL alone answers"
	var text strings.Builder
	fmt.Fprintf(&text, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title">`+"\n", width, height)
	fmt.Fprintf(&text, `<title id="title">%s</title>`+"\n%s", title, style)
	fmt.Fprintf(&text, `<rect class="paper" width="%d" height="%d"/>`+"\n", width, height)
	write(&text, "title", svgMargin, 34, title)
	if len(r.Setting) > 0 {
		write(&text, "note", svgMargin, 56, "Medians. "+strings.Join(r.Setting, "; "))
	}
	r.legend(&text)
	for i, request := range requests {
		r.panel(&text, request, svgMargin+i%svgColumns*(svgPanel+svgGap), svgHead+i/svgColumns*(panel+svgGap))
	}
	text.WriteString("</svg>\n")
	_, err := io.WriteString(out, text.String())
	return err
}

// classes are those of the targets, with what the legend calls them.
var classes = []struct{ class, name string }{
	{"ours", "Slipway"}, {"floor", "the same statements without GraphQL"}, {"peer", "other GraphQL servers"}, {"ceiling", "PostgreSQL alone"},
}

// class returns that of a target.
func (r *Report) class(target string) string {
	switch {
	case target == r.Ceiling:
		return "ceiling"
	case target == r.Floor:
		return "floor"
	case slices.Contains(r.Peers, target):
		return "peer"
	}
	return "ours"
}

func (r *Report) legend(text *strings.Builder) {
	x := svgMargin
	for _, c := range classes {
		if !slices.ContainsFunc(r.Targets, func(target string) bool { return r.class(target) == c.class }) {
			continue
		}
		const square, letter = 12, 7
		fmt.Fprintf(text, `<rect class="%s" x="%d" y="68" width="%d" height="%[3]d" rx="2"/>`+"\n", c.class, x, square)
		write(text, "", x+square+6, 78, c.name)
		x += square + 24 + letter*len(c.name)
	}
}

// panel draws the bars of a request. They all have the length of the ceiling, or of the longest where one is longer.
func (r *Report) panel(text *strings.Builder, request Title, x, y int) {
	write(text, "request", x, y+16, request.Name+": "+request.Title)
	longest := 1.0
	for _, target := range r.Targets {
		if e := r.find(request.Name, target); e != nil {
			longest = max(longest, e.Of(ratio))
		}
	}
	y += svgTitle
	for _, target := range r.Targets {
		e := r.find(request.Name, target)
		if e == nil || len(e.Rounds) == 0 {
			continue
		}
		write(text, "", x, y+13, target)
		const height = svgRow - 6
		fmt.Fprintf(text, `<rect class="rest" x="%d" y="%d" width="%d" height="%d" rx="2"/>`+"\n", x+svgName, y+2, svgBar, height)
		fmt.Fprintf(text, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`+"\n",
			r.class(target), x+svgName, y+2, svgBar*e.Of(ratio)/longest, height)
		write(text, "", x+svgName+svgBar+8, y+13, fmt.Sprintf("%.2f", e.Of(ratio)))
		y += svgRow
	}
}

// write draws a text.
func write(text *strings.Builder, class string, x, y int, s string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(text, `<text%s x="%d" y="%d">%s</text>`+"\n", class, x, y, html.EscapeString(s))
}
