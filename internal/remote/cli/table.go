package cli

import (
	"math"
	"slices"
	"strings"
)

// gap is what stands between two columns.
const gap = "  "

// table is how the columns of a list stand. The first page decides which are there; later ones may widen them if
// there is room without end.
type table struct {
	columns []column
	widths  []int
	// most is what a cell of each column may have, 0 for as much as it likes.
	most []int
}

// tablePage writes records as rows, with the head before the first.
func (p *printer) tablePage(entries []entry) {
	if len(entries) == 0 {
		return
	}

	columns, first := p.columns(), p.table == nil
	if !first {
		columns = p.table.columns
	}

	rows := make([][]string, 0, len(entries)+1)
	if first {
		head := make([]string, len(columns))
		for i, c := range columns {
			head[i] = c.title
		}
		rows = append(rows, head)
	}

	for _, e := range entries {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = safe(p.text(e, c))
		}
		rows = append(rows, row)
	}

	if first {
		p.table, rows = fit(columns, rows, p.screen.width)
	}
	p.table.widen(rows)
	for _, row := range rows {
		p.row(row)
	}
}

func (p *printer) row(cells []string) {
	for len(cells) > 1 && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1] // no blanks at the end of a line
	}
	for i, text := range cells {
		if most := p.table.most[i]; most > 0 {
			text = cut(text, most)
		}
		if i == len(cells)-1 {
			_, _ = p.to.WriteString(p.screen.paint(text) + "\n")
			return
		}
		_, _ = p.to.WriteString(p.screen.paint(pad(text, p.table.widths[i])) + gap)
	}
}

// widen makes room for what rows have.
func (t *table) widen(rows [][]string) {
	for _, row := range rows {
		for i, text := range row {
			if t.most[i] == 0 {
				t.widths[i] = max(t.widths[i], widthOf(text))
			}
		}
	}
}

// Of a column that is cut, so much stays: readable as long as there are others to leave out, and least in the end.
const readable, least = 12, 6

// fit returns a table of the columns that a screen has room for, and the rows of these alone. The least important
// columns go until the others can be read, then the least important of these are cut first. Two columns stay, and ids
// are never cut.
func fit(columns []column, rows [][]string, width int) (*table, [][]string) {
	t := &table{columns: slices.Clone(columns), widths: make([]int, len(columns)), most: make([]int, len(columns))}
	t.widen(rows)
	if width == 0 {
		return t, rows
	}

	for len(t.columns) > 2 && t.total(readable) > width {
		last := len(t.columns) - 1
		if t.columns[last].isID() {
			last--
		}
		t.columns, t.widths, t.most = slices.Delete(t.columns, last, last+1), slices.Delete(t.widths, last,
			last+1), slices.Delete(t.most, last, last+1)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], last, last+1)
		}
	}

	for i := len(t.columns) - 1; i >= 0; i-- {
		over := t.total(math.MaxInt) - width
		if over > 0 && !t.columns[i].isID() && t.widths[i] > least {
			t.widths[i] = max(t.widths[i]-over, least)
			t.most[i] = t.widths[i]
		}
	}
	return t, rows
}

// total is how wide a row is whose cells are cut to a width.
func (t *table) total(most int) int {
	total := (len(t.widths) - 1) * len(gap)
	for i, width := range t.widths {
		if !t.columns[i].isID() {
			width = min(width, most)
		}
		total += width
	}
	return total
}

// pad fills a text up with blanks.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-widthOf(text)))
}
