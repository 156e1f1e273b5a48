package retention

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"slipway/ent"
)

// Archive is a folder that has the audit of each month in a file, such as audit-2026-11.jsonl. A line of it is a row,
// as a JSON object of the table's columns. A row may be there twice, if a server has ended between writing and
// removing it.
type Archive struct {
	folder string
	// sync puts a file or a folder on the disk.
	sync func(*os.File) error
}

// OpenArchive returns the archive in a folder, which must be there. It fails if no file can be made in it, if others
// may change what is in it, and if it has a file of a month that is not fit to be added to.
func OpenArchive(folder string) (*Archive, error) {
	if err := checkFolder(folder); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if !isMonth(file.Name()) {
			continue
		}
		info, err := file.Info()
		if err == nil {
			err = checkFile(filepath.Join(folder, file.Name()), info)
		}
		if err != nil {
			return nil, err
		}
	}

	probe, err := os.CreateTemp(folder, ".audit-")
	if err != nil {
		return nil, err
	}
	return &Archive{folder, (*os.File).Sync}, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// append adds rows to their files, which are on the disk when it returns.
func (a *Archive) append(rows []*ent.AuditEvent) error {
	for len(rows) > 0 {
		month, lines := nameOf(rows[0]), bytes.Buffer{}
		n := 0
		for ; n < len(rows) && nameOf(rows[n]) == month; n++ {
			line := *rows[n]
			line.CreatedAt = line.CreatedAt.UTC()
			encoder := json.NewEncoder(&lines)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(&line); err != nil {
				return fmt.Errorf("archive %s: %w", line.ID, err)
			}
		}
		if err := a.appendTo(month, lines.Bytes()); err != nil {
			return fmt.Errorf("archive the audit: %w", err)
		}
		rows = rows[n:]
	}
	return nil
}

// fileOfMonth is the layout of the files' names.
const fileOfMonth = "audit-2006-01.jsonl"

// nameOf returns the name of the file that a row belongs into.
func nameOf(row *ent.AuditEvent) string { return row.CreatedAt.UTC().Format(fileOfMonth) }

func isMonth(name string) bool {
	_, err := time.Parse(fileOfMonth, name)
	return err == nil
}

// appendTo adds lines to a file. If that fails, the file is as it was.
func (a *Archive) appendTo(name string, lines []byte) (err error) {
	f, err := openFile(filepath.Join(a.folder, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end, err := endOfLines(f)
	if err != nil {
		return err
	}

	_, err = f.WriteAt(lines, end)
	if err == nil {
		err = a.sync(f)
	}
	// A file that was made is there after a crash only if its folder is on the disk, too. It is synced each time, because
	// the server that made the file may have been killed before it did.
	if err == nil {
		err = a.syncFolder()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	return nil
}

// endOfLines returns where the last whole line of a file ends, and cuts off what stands behind it: a server was killed
// while it wrote, and the row is still in the database.
func endOfLines(f *os.File) (int64, error) {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}

	whole := int64(0)
	for at, chunk := end, make([]byte, 4096); at > 0; {
		from := max(at-int64(len(chunk)), 0)
		if _, err := f.ReadAt(chunk[:at-from], from); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(chunk[:at-from], '\n'); i >= 0 {
			whole = from + int64(i) + 1
			break
		}
		at = from
	}

	if whole == end {
		return end, nil
	}
	return whole, f.Truncate(whole)
}

func (a *Archive) syncFolder() error {
	folder, err := os.Open(a.folder)
	if err != nil {
		return err
	}
	return errors.Join(a.sync(folder), folder.Close())
}
