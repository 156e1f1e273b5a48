package secret_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"slipway/internal/base/secret"
)

func TestANewSecretIsInAFileOfItsOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	create := func() (string, error) { return "slp_x", nil }
	undo := func() error { t.Error("it was taken back"); return nil }
	if err := secret.WriteNew(path, create, undo); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if err != nil || statErr != nil || string(text) != "slp_x\n" || info.Mode() != 0o600 {
		t.Errorf("%q %v, %v %v", text, info, err, statErr)
	}

	second := func() (string, error) { t.Error("a second one was made"); return "", nil }
	if err := secret.WriteNew(path, second, undo); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the file is there: %v", err)
	}
}

func TestNoFileIsLeftOfASecretThatIsRefused(t *testing.T) {
	t.Parallel()
	path, refused := filepath.Join(t.TempDir(), "token"), errors.New("refused")
	err := secret.WriteNew(path, func() (string, error) { return "", refused }, func() error { return nil })
	if _, left := os.Stat(path); !errors.Is(err, refused) || !errors.Is(left, fs.ErrNotExist) {
		t.Errorf("%v, %v", err, left)
	}
}

func TestALineThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "token"))
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := secret.WriteLine(file, "slp_x"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("%v", err)
	}
}
