package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"slipway/internal/base/setting"
	"slipway/internal/base/strictjson"
	"slipway/internal/remote/cli/document"
)

// format is how a result is written.
type format string

const (
	formatTable    format = "table"
	formatJSON     format = "json"
	formatYAML     format = "yaml"
	formatTSV      format = "tsv"
	formatName     format = "name"
	formatMarkdown format = "markdown"
)

// forPrograms reports whether errors, too, are written as JSON.
func (f format) forPrograms() bool { return f == formatJSON }

// output is what the flags say of how results are written.
type output struct {
	format format
	fields []string
	color  string
}

// formatsOf returns the formats of a command that has more than those of all.
func formatsOf(more []format) []format {
	return append([]format{formatTable, formatJSON, formatYAML, formatTSV, formatName}, more...)
}

func (o *output) flags(fs *pflag.FlagSet, formats []format) {
	setting.AddFlagP(fs, &o.format, "output", "o", string(formatTable), setting.Choice(formats...),
		"format of the result")
	setting.AddFlag(fs, &o.fields, "fields", "", fieldList,
		"fields to show in this order, separated by commas, such as id,project.slug")
	setting.AddFlag(fs, &o.color, "color", "auto", setting.Choice("auto", "never"),
		"colors; auto uses them on a terminal, unless NO_COLOR is set or TERM is dumb")
}

var fieldList = setting.Parser[[]string]{Kind: "FIELDS", Parse: func(s string) ([]string, error) {
	fields, err := setting.List.Parse(s)
	if err != nil {
		return nil, setting.Unlike("fields that commas separate", s)
	}
	return fields, nil
}}

// printer writes results.
type printer struct {
	output
	to     *bufio.Writer
	screen screen
	now    func() time.Time
	// shape is that of the records, and table how those of a list stand.
	shape *shape
	table *table
	count int
}

func newPrinter(o output, to io.Writer, env setting.Environment, now func() time.Time) *printer {
	return &printer{output: o, to: bufio.NewWriter(to), screen: newScreen(to, env, o.color != "never"), now: now}
}

// columns are those of a table, or of the lines of tsv.
func (p *printer) columns() []column {
	if len(p.fields) == 0 {
		return p.shape.columns
	}
	columns := make([]column, len(p.fields))
	for i, field := range p.fields {
		columns[i] = column{titleOf(field), field}
	}
	return columns
}

// whole is what of a record programs get.
func (p *printer) whole(e entry) *strictjson.Node {
	if len(p.fields) == 0 {
		return e.Node
	}
	return pick(e.Node, p.fields)
}

// one writes a single record.
func (p *printer) one(e entry) (err error) {
	switch p.format {
	case formatJSON:
		err = p.writeJSON(p.whole(e), "")
		_ = p.to.WriteByte('\n')
	case formatYAML:
		_, err = p.to.WriteString(document.Write(p.whole(e), ""))
	case formatTSV, formatName:
		p.line(e)
	case formatTable, formatMarkdown:
		p.sheet(e)
	}
	return flush(p.to, err)
}

// sheet writes a record for people, a field a line, without those that have no value.
func (p *printer) sheet(e entry) {
	columns, width := columnsOf(p.fields), 0
	if len(columns) == 0 {
		columns = p.shape.sheet
	}
	columns = slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return e.text(c) == "" })
	for _, c := range columns {
		width = max(width, widthOf(c.title))
	}
	for _, c := range columns {
		_, _ = fmt.Fprintf(p.to, "%s%s%s\n", pad(safe(c.title), width), gap, p.screen.paint(safe(p.text(e, c))))
	}
}

// text returns a column of a record as people read it: moments on a terminal are ages.
func (p *printer) text(e entry, c column) string {
	text := e.text(c)
	if p.screen.width > 0 && p.shape.times[c.path] && text != "" {
		if moment, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return age(moment, p.now(), !mayCome(c.path))
		}
	}
	return text
}

// mayCome reports whether the moments of a field may be in the future. Others are only there by a clock that is wrong.
func mayCome(path string) bool {
	return strings.HasSuffix(strings.ToLower(path), "until") || strings.HasSuffix(path, "expiresAt")
}

// item writes a value as an item of a list in YAML.
func (p *printer) item(n *strictjson.Node) {
	list := &strictjson.Node{Kind: strictjson.Array, Items: []*strictjson.Node{n}}
	_, _ = p.to.WriteString(document.Write(list, ""))
}

// line writes a record as a line of tsv, or its name.
func (p *printer) line(e entry) {
	if p.format == formatName {
		_, _ = fmt.Fprintln(p.to, safe(e.name))
		return
	}
	for i, c := range p.columns() {
		if i > 0 {
			_ = p.to.WriteByte('\t')
		}
		_, _ = p.to.WriteString(safe(tsvEscape.Replace(e.text(c))))
	}
	_ = p.to.WriteByte('\n')
}

// tsvEscape keeps a value in its cell.
var tsvEscape = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, `\`, `\\`)

// page writes the records of a list that come next.
func (p *printer) page(entries []entry) (err error) {
	switch p.format {
	case formatJSON:
		for i, e := range entries {
			_, _ = p.to.WriteString(map[bool]string{true: "[\n  ", false: ",\n  "}[p.count+i == 0])
			if err = p.writeJSON(p.whole(e), "  "); err != nil {
				break
			}
		}

	case formatYAML:
		for _, e := range entries {
			p.item(p.whole(e))
		}

	case formatTSV, formatName:
		for _, e := range entries {
			p.line(e)
		}

	case formatTable, formatMarkdown:
		p.tablePage(entries)
	}

	p.count += len(entries)
	return flush(p.to, err)
}

// end ends a list.
func (p *printer) end() error {
	switch {
	case p.format == formatJSON && p.count > 0:
		_, _ = p.to.WriteString("\n]\n")
	case (p.format == formatJSON || p.format == formatYAML) && p.count == 0:
		_, _ = p.to.WriteString("[]\n")
	}
	return p.to.Flush()
}

func flush(to *bufio.Writer, err error) error {
	if err != nil {
		return err
	}
	return to.Flush()
}

func (p *printer) writeJSON(n *strictjson.Node, prefix string) error {
	var text bytes.Buffer
	if err := json.Indent(&text, n.JSON(), prefix, "  "); err != nil {
		return err
	}
	_, err := p.to.WriteString(escapeJSON(text.String()))
	return err
}
