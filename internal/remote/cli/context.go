package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/base/strictjson"
	"slipway/internal/remote/cli/document"
)

// savedContext is a server, and by what a person proves itself there.
type savedContext struct {
	Server       string `json:"server"`
	Organization string `json:"organization,omitempty"`
	Token        string `json:"token,omitempty"`
	TokenCommand string `json:"tokenCommand,omitempty"`
}

// contexts are what the file has that login writes.
type contexts struct {
	Current  string                  `json:"current,omitempty"`
	Contexts map[string]savedContext `json:"contexts,omitempty"`
}

// maxContexts is the longest file of contexts, in bytes.
const maxContexts = 1 << 20

// contextsPath returns where the contexts are.
func contextsPath(env setting.Environment) (string, error) {
	if path, _ := env("SLIPWAY_CONFIG"); path != "" {
		return path, nil
	}
	if dir, _ := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "slipway", "config.yaml"), nil
	}
	if home, _ := env("HOME"); home != "" {
		return filepath.Join(home, ".config", "slipway", "config.yaml"), nil
	}
	return "", setting.Usagef("want SLIPWAY_CONFIG, XDG_CONFIG_HOME or HOME set, to know where contexts are; found none")
}

// readContexts reads the contexts; there are none if there is no file. Errors show nothing of the file, which has
// tokens.
func readContexts(path string) (c contexts, err error) {
	text, err := readPrivate(path)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return c, err
	}

	read, err := document.Read(path, text)
	if err != nil {
		if bad, ok := errors.AsType[*document.Error](err); ok {
			return c, notContexts(document.At(path, bad.Position))
		}
		return c, notContexts(path)
	}

	if pointer, ok := c.decode(read.Root); !ok {
		return contexts{}, notContexts(document.At(path, read.KeyPosition(pointer)))
	}
	return c, nil
}

// readPrivate returns the text of a file that only its owner can read, nothing if there is no such file.
func readPrivate(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()

	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // nobody is to change the mode of a folder or a device
		return nil, fmt.Errorf("%s: want a file of contexts, found %s", path, kindOf(info.Mode()))
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s has tokens and can be read by others; make it yours alone with: chmod 600 '%s'",
			path, path)
	}

	text, err := io.ReadAll(io.LimitReader(f, maxContexts+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxContexts {
		return nil, fmt.Errorf("%s: want at most %d bytes, found more", path, maxContexts)
	}
	return text, nil
}

// kindOf says what is where a file should be.
func kindOf(mode fs.FileMode) string {
	if mode.IsDir() {
		return "a folder"
	}
	return "not a regular file"
}

// decode reads the contexts from a document. Otherwise it returns where something stands that they do not have.
func (c *contexts) decode(root *strictjson.Node) (pointer string, ok bool) {
	c.Contexts = map[string]savedContext{}

	for i, key := range root.Keys {
		switch value := root.Items[i]; {
		case key == "current" && value.Kind == strictjson.String:
			c.Current = value.Text

		case key == "contexts" && (value.Kind == strictjson.Object || value.Kind == strictjson.Null):
			for j, name := range value.Keys {
				var saved savedContext
				d := json.NewDecoder(bytes.NewReader(value.Items[j].JSON()))
				d.DisallowUnknownFields()
				if d.Decode(&saved) != nil {
					return fault.Pointer(key, name), false
				}
				c.Contexts[name] = saved
			}

		default:
			return fault.Pointer(key), false
		}
	}
	return "", root.Kind == strictjson.Object || root.Kind == strictjson.Null
}

func notContexts(place string) error {
	return fmt.Errorf("%s: want current, and contexts with server, organization, and token or tokenCommand, "+
		"found something else", place)
}

// changeContexts reads the contexts, has them changed and replaces the file whole, while no other command does.
func (c *Config) changeContexts(ctx context.Context, path string, change func(*contexts) error) error {
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		path = whole // the link stays
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}

	unlock, err := lock(ctx, path+".lock", c.Patience)
	if err != nil {
		return err
	}
	defer unlock()

	saved, err := readContexts(path)
	if err != nil {
		return err
	}
	if err := change(&saved); err != nil {
		return err
	}

	node, err := nodeOf(saved)
	if err != nil {
		return err
	}
	return replace(path, []byte(document.Write(node, "")))
}

// replace replaces a file whole by one that only its owner can read.
func replace(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".") // its mode is 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// lock takes a file's lock, which ends with the process at the latest.
func lock(ctx context.Context, path string, patience time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()

	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}

		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("another command holds %s", path), f.Close())
		}
	}
}
