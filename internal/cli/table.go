package cli

import (
	"slices"
	"strings"
)

// gap is what stands between two columns.
const gap = "  "

// table is how the columns of a list stand. The first page decides which are there; later ones may widen them where there
// is room without end.
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

// fit returns a table of the columns that a screen has room for, and the rows of these alone. The least important go first,
// then what is longest is cut; the first column stays, and ids are never cut.
func fit(columns []column, rows [][]string, width int) (*table, [][]string) {
	t := &table{columns: slices.Clone(columns), widths: make([]int, len(columns)), most: make([]int, len(columns))}
	t.widen(rows)
	for width > 0 && t.total() > width {
		least := len(t.columns) - 1
		for least > 0 && t.columns[least].isID() {
			least--
		}
		if least <= 0 {
			break
		}
		t.columns, t.widths, t.most = slices.Delete(t.columns, least, least+1), slices.Delete(t.widths, least, least+1), slices.Delete(t.most, least, least+1)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], least, least+1)
		}
	}
	const least = 6
	if over := t.total() - width; width > 0 && over > 0 && !t.columns[0].isID() {
		t.widths[0] = min(t.widths[0], max(t.widths[0]-over, least))
		t.most[0] = t.widths[0]
	}
	return t, rows
}

// total is how wide a row is.
func (t *table) total() int {
	total := (len(t.widths) - 1) * len(gap)
	for _, width := range t.widths {
		total += width
	}
	return total
}

// pad fills a text up with blanks.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-widthOf(text)))
}
