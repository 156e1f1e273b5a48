package report

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Markdown writes the report as tables: the ratios to the ceiling, then one table for each kind of request.
func (r *Report) Markdown(out io.Writer) error {
	var text strings.Builder
	for _, line := range r.Setting {
		fmt.Fprintf(&text, "%s  \n", line)
	}
	if r.Ceiling != "" {
		r.ratios(&text)
	}
	for _, request := range r.Requests {
		r.table(&text, request)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// ratios writes the table of the ratios to the ceiling.
func (r *Report) ratios(text *strings.Builder) {
	var names []string
	for _, request := range r.Requests {
		if r.find(request.Name, r.Ceiling) != nil {
			names = append(names, request.Name)
		}
	}

	fmt.Fprintf(
		text, "\nOf the ceiling, median (least to greatest):\n\n| target | %s |\n|---|%s\n", strings.Join(names, " | "),
		strings.Repeat("---|", len(names)),
	)

	for _, target := range r.Targets {
		if target == r.Ceiling {
			continue
		}
		cells := make([]string, len(names))
		for i, name := range names {
			if e := r.find(name, target); e != nil && e.Of(ratio) > 0 {
				least, greatest := e.Range(ratio)
				cells[i] = fmt.Sprintf("%.2f (%.2f to %.2f)", e.Of(ratio), least, greatest)
			}
		}
		fmt.Fprintf(text, "| %s | %s |\n", target, strings.Join(cells, " | "))
	}
}

func perSecond(m Measurement) float64 { return m.PerSecond }
func ratio(m Measurement) float64     { return m.Ratio }

// columns are those of the tables after the name of the target.
var columns = []struct {
	name string
	cell func(*Entry) string
}{
	{"requests/s (least to greatest)", func(e *Entry) string {
		least, greatest := e.Range(perSecond)
		return fmt.Sprintf("%.0f (%.0f to %.0f)", e.Of(perSecond), least, greatest)
	}},
	{"of the ceiling", figure("%.2f", ratio)},
	{"p50 ms", figure("%.2f", func(m Measurement) float64 { return milliseconds(m.P50) })},
	{"p99 ms", figure("%.2f", func(m Measurement) float64 { return milliseconds(m.P99) })},
	{"server µs", figure("%.0f", func(m Measurement) float64 { return microseconds(m.ServerCPU) })},
	{"PostgreSQL µs", figure("%.0f", func(m Measurement) float64 { return microseconds(m.DatabaseCPU) })},
	{"answer KB", figure("%.2f", func(m Measurement) float64 { return m.Bytes / 1000 })},
	{"memory MB", func(e *Entry) string {
		_, most := e.Range(func(m Measurement) float64 { return float64(m.PeakMemory) })
		return shown("%.0f", most/1e6)
	}},
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// figure returns the cell of the median of a figure.
func figure(format string, of func(Measurement) float64) func(*Entry) string {
	return func(e *Entry) string { return shown(format, e.Of(of)) }
}

// shown returns the text of a value, none of 0, which was not measured.
func shown(format string, value float64) string {
	if value == 0 {
		return ""
	}
	return fmt.Sprintf(format, value)
}

func (r *Report) table(text *strings.Builder, request Title) {
	fmt.Fprintf(text, "\n**%s**: %s\n\n| target |", request.Name, request.Title)
	for _, c := range columns {
		fmt.Fprintf(text, " %s |", c.name)
	}
	fmt.Fprintf(text, "\n|---|%s\n", strings.Repeat("---|", len(columns)))
	for _, target := range r.Targets {
		e := r.find(request.Name, target)
		if e == nil {
			continue
		}
		fmt.Fprintf(text, "| %s |", target)
		for _, c := range columns {
			fmt.Fprintf(text, " %s |", c.cell(e))
		}
		text.WriteString("\n")
	}
}
