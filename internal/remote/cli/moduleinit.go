package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/cli/manifest"
)

// writtenFile is a file that was written.
type writtenFile struct {
	Path string `json:"path"`
}

var writtenFileView = view[writtenFile]{
	columns: []column{{"WROTE", "path"}},
	name:    func(f *writtenFile) string { return f.Path },
}

func (c *Config) modulesInitCommand() *cobra.Command {
	var name, deploymentType, dir string

	cmd := c.local(&cobra.Command{
		Use: "init [TYPE]", Short: "Create a manifest and its editor schema",
		Args: cobra.MaximumNArgs(1),
		Long: `Create ` + manifest.FileName + `, a manifest that is ready to publish, and ` + manifest.SchemaName + `,
which lets your editor complete and check it. Without TYPE, the type comes from the name of the
folder. If one of the files exists, nothing is written.`,
		Example: "  slipway modules init acme/queue\n" +
			"  slipway modules init acme/queue --name Queue --deployment-type aws:ecs --dir modules/queue",
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, writtenFileView); err != nil {
			return err
		}

		moduleType, err := newModuleType(args, dir)
		if err != nil {
			return err
		}
		if name == "" {
			name = nameOfType(moduleType)
		}

		files := manifest.Init(moduleType, name, deploymentType)
		if err := checkFirst(ctx, files[0]); err != nil {
			return err
		}

		written, err := writeNew(dir, files)
		if err != nil {
			return err
		}
		return showAll(s, writtenFileView, written)
	})

	setting.AddFlag(cmd.Flags(), &name, "name", "", setting.Text,
		"display name (default: from the type)")
	setting.AddFlag(cmd.Flags(), &deploymentType, "deployment-type", "terraform", setting.Text,
		"deployment type, aws:ecs or terraform")
	setting.AddFlag(cmd.Flags(), &dir, "dir", ".", setting.Text, "folder to write to, created if missing")
	return cmd
}

// newModuleType returns the type that was given, else the name of the folder.
func newModuleType(args []string, dir string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	path, err := filepath.Abs(dir)
	return filepath.Base(path), err
}

// nameOfType makes a name for people of a type: acme/order-queue is Order queue.
func nameOfType(moduleType string) string {
	words := strings.NewReplacer("-", " ", "_", " ").Replace(moduleType[strings.LastIndexAny(moduleType, ":/.")+1:])
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:]
}

// origins are where what a first manifest has is from.
var origins = map[string]string{"/type": "TYPE", "/name": "--name", "/deploymentType": "--deployment-type"}

// checkFirst refuses what would make a manifest that cannot be published.
func checkFirst(ctx context.Context, file manifest.File) error {
	m, err := manifest.Read(file.Path, file.Text)
	if err != nil {
		return err
	}
	list, err := m.Lint(ctx, "")
	if err != nil {
		return err
	}
	for _, f := range list.Errors() {
		return setting.Usagef("%s: %s", origins[f.Pointer], f.Message)
	}
	return nil
}

// writeNew writes files into a folder, all of them or none.
func writeNew(dir string, files []manifest.File) (written []writtenFile, err error) {
	defer func() {
		if err != nil {
			for _, f := range written {
				_ = os.Remove(f.Path)
			}
		}
	}()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { // #nosec G301 -- for everybody who works on the module
			return written, err
		}
		if err := createFile(path, f.Text); err != nil {
			return written, err
		}
		written = append(written, writtenFile{path})
	}
	return written, nil
}

// createFile writes a file that is not there yet.
func createFile(path string, text []byte) error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := os.OpenFile(path, flags, 0o644) // #nosec G302 -- for everybody who works on the module
	if errors.Is(err, fs.ErrExist) {
		return refusedf("%s already exists; nothing was written", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(path))
	}
	return nil
}
