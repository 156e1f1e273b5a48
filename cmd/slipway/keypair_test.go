package main_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	main "slipway/cmd/slipway"
)

// pair is a certificate for localhost, a name of its own and 127.0.0.1, which has signed itself, and its key, in PEM.
type pair struct{ cert, key []byte }

// valid makes a pair that is valid for an hour.
func valid(t *testing.T, name string) pair {
	t.Helper()
	return validWithin(t, name, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
}

func validWithin(t *testing.T, name string, from, to time.Time) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: from, NotAfter: to, DNSNames: []string{"localhost", name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})}
}

// trusted is how a client trusts the pairs.
func trusted(pairs ...pair) *tls.Config {
	c := &tls.Config{RootCAs: x509.NewCertPool()}
	for _, p := range pairs {
		c.RootCAs.AppendCertsFromPEM(p.cert)
	}
	return c
}

// in writes a pair into a folder and returns the paths.
func (p pair) in(t *testing.T, folder string) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	write(t, cert, p.cert)
	write(t, key, p.key)
	return cert, key
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// watched is a pair that a server would have, and its log.
type watched struct {
	*main.KeyPair
	log *bytes.Buffer
}

func watch(t *testing.T, cert, key string) watched {
	t.Helper()
	log := &bytes.Buffer{}
	p, err := main.NewKeyPair(cert, key, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return watched{p, log}
}

// look has the server look a few times, and returns what it has logged.
func (w watched) look() string {
	w.log.Reset()
	for range 4 {
		main.Look(w.KeyPair, time.Now())
	}
	return w.log.String()
}

// serves reports whether a handshake shows the certificate of a pair.
func (w watched) serves(t *testing.T, p pair) bool {
	t.Helper()
	got, err := main.Config(w.KeyPair).GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(p.cert)
	return bytes.Equal(got.Leaf.Raw, block.Bytes)
}

func TestWhatCannotBeServedChangesNothingAndIsLoggedOnce(t *testing.T) {
	t.Parallel()
	first, next := valid(t, "first.example"), valid(t, "next.example")
	past := validWithin(t, "past.example", time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	future := validWithin(t, "future.example", time.Now().Add(time.Hour), time.Now().Add(2*time.Hour))
	encrypted := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")})
	for name, c := range map[string]struct {
		cert, key []byte // nil to remove the file
		file      string // that the log names
		says      string
	}{
		"no certificate file": {nil, next.key, "tls.crt", "no such file"},
		"no key file":         {next.cert, nil, "tls.key", "no such file"},
		"empty certificate":   {[]byte{}, next.key, "tls.crt", "found none"},
		"empty key":           {next.cert, []byte{}, "tls.key", "failed to find any PEM data"},
		"half a certificate":  {next.cert[:len(next.cert)/2], next.key, "tls.crt", "not whole"},
		"half a chain":        {append(bytes.Clone(next.cert), first.cert[:100]...), next.key, "tls.crt", "not whole"},
		"half a key":          {next.cert, next.key[:len(next.key)/2], "tls.key", "PEM"},
		"garbage":             {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}), next.key, "tls.crt", "x509"},
		"another's key":       {next.cert, first.key, "tls.key", "does not match"},
		"expired":             {past.cert, past.key, "tls.crt", "expired"},
		"not valid yet":       {future.cert, future.key, "tls.crt", "not valid before"},
		"encrypted key":       {next.cert, encrypted, "tls.key", "passphrase"},
		"swapped":             {next.key, next.cert, "tls.crt", "found none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cert, key := first.in(t, t.TempDir())
			w := watch(t, cert, key)
			for path, text := range map[string][]byte{cert: c.cert, key: c.key} {
				if text != nil {
					write(t, path, text)
				} else if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			log := w.look()
			if strings.Count(log, "\n") != 1 || !strings.Contains(log, "level=WARN") || !strings.Contains(log, c.file) || !strings.Contains(log, c.says) {
				t.Errorf("logged %s", log)
			}
			if secret := string(bytes.Split(next.key, []byte("\n"))[1]); strings.Contains(log, secret[:20]) {
				t.Errorf("the key is logged: %s", log)
			}
			if !w.serves(t, first) {
				t.Error("the certificate before is not served")
			}
			next.in(t, filepath.Dir(cert))
			if log := w.look(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "next.example") || !strings.Contains(log, "notAfter=") {
				t.Errorf("logged %s", log)
			}
			if !w.serves(t, next) {
				t.Error("the new certificate is not served")
			}
			if log := w.look(); log != "" {
				t.Errorf("logged without a change: %s", log)
			}
		})
	}
}

func TestEveryWayToChangeThePairIsSeen(t *testing.T) {
	t.Parallel()
	link := func(t *testing.T, target, path string) {
		t.Helper()
		if err := os.Symlink(target, path+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	folder := func(t *testing.T, path string) string {
		t.Helper()
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		begin, change func(t *testing.T, dir string, p pair)
	}{
		"written over": {
			func(t *testing.T, dir string, p pair) { p.in(t, dir) },
			func(t *testing.T, dir string, p pair) { p.in(t, dir) },
		},
		"renamed": {
			func(t *testing.T, dir string, p pair) { p.in(t, dir) },
			func(t *testing.T, dir string, p pair) {
				for _, path := range p.paths(t, folder(t, filepath.Join(dir, "new"))) {
					if err := os.Rename(path, filepath.Join(dir, filepath.Base(path))); err != nil {
						t.Fatal(err)
					}
				}
			},
		},
		"links as of certbot": {
			func(t *testing.T, dir string, p pair) {
				for _, path := range p.paths(t, folder(t, filepath.Join(dir, "1"))) {
					link(t, path, filepath.Join(dir, filepath.Base(path)))
				}
			},
			func(t *testing.T, dir string, p pair) {
				for _, path := range p.paths(t, folder(t, filepath.Join(dir, "2"))) {
					link(t, path, filepath.Join(dir, filepath.Base(path)))
				}
			},
		},
		"a link to the folder as of Kubernetes": {
			func(t *testing.T, dir string, p pair) {
				p.in(t, folder(t, filepath.Join(dir, "..1")))
				link(t, "..1", filepath.Join(dir, "..data"))
				link(t, "..data/tls.crt", filepath.Join(dir, "tls.crt"))
				link(t, "..data/tls.key", filepath.Join(dir, "tls.key"))
			},
			func(t *testing.T, dir string, p pair) {
				p.in(t, folder(t, filepath.Join(dir, "..2")))
				link(t, "..2", filepath.Join(dir, "..data"))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, first, next := t.TempDir(), valid(t, "first.example"), valid(t, "next.example")
			c.begin(t, dir, first)
			w := watch(t, filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
			if !w.serves(t, first) {
				t.Fatal("the first certificate is not served")
			}
			c.change(t, dir, next)
			if log := w.look(); !w.serves(t, next) || strings.Count(log, "\n") != 1 {
				t.Errorf("not taken: %s", log)
			}
		})
	}
}

// paths is in, as a list.
func (p pair) paths(t *testing.T, folder string) []string {
	t.Helper()
	cert, key := p.in(t, folder)
	return []string{cert, key}
}

func TestAFileThatIsStillWrittenIsNotRead(t *testing.T) {
	t.Parallel()
	first, next := valid(t, "first.example"), valid(t, "next.example")
	cert, key := first.in(t, t.TempDir())
	w := watch(t, cert, key)
	w.log.Reset()
	write(t, cert, next.cert)
	main.Look(w.KeyPair, time.Now())
	write(t, key, next.key)
	main.Look(w.KeyPair, time.Now())
	if w.log.Len() > 0 {
		t.Errorf("logged %s", w.log)
	}
	if log := w.look(); !w.serves(t, next) || strings.Contains(log, "WARN") {
		t.Errorf("not taken: %s", log)
	}
}

func TestACertificateIsTakenOnceItIsValid(t *testing.T) {
	t.Parallel()
	first, next := valid(t, "first.example"), validWithin(t, "next.example", time.Now().Add(time.Hour), time.Now().Add(2*time.Hour))
	cert, key := first.in(t, t.TempDir())
	w := watch(t, cert, key)
	next.in(t, filepath.Dir(cert))
	if w.look(); !w.serves(t, first) {
		t.Error("it is served before it is valid")
	}
	main.Look(w.KeyPair, time.Now().Add(90*time.Minute))
	if !w.serves(t, next) {
		t.Error("it is not served")
	}
}

func TestAKeyThatOthersMayReadIsWarnedOf(t *testing.T) {
	t.Parallel()
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true} {
		cert, key := valid(t, "first.example").in(t, t.TempDir())
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		if log := watch(t, cert, key).log.String(); strings.Contains(log, "not for its owner alone") != want || strings.Count(log, key) > 1 {
			t.Errorf("%o: %s", mode, log)
		}
	}
}

func TestTheEndOfACertificateIsWarnedOfOnceADay(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	begin := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, c := range []struct{ life, first time.Duration }{{90 * day, 76 * day}, {6 * day, 4 * day}} {
		cert, key := validWithin(t, "first.example", begin, begin.Add(c.life)).in(t, t.TempDir())
		w := watch(t, cert, key)
		warnings := func(after time.Duration) int {
			w.log.Reset()
			main.Look(w.KeyPair, begin.Add(after))
			return strings.Count(w.log.String(), "ends soon")
		}
		for _, look := range []struct {
			after time.Duration
			want  int
		}{{c.first, 0}, {c.first + time.Second, 1}, {c.first + 2*time.Second, 0}, {c.first + day, 0}, {c.first + day + time.Second, 1}} {
			if n := warnings(look.after); n != look.want {
				t.Errorf("of %s: %d warnings after %s, want %d", c.life, n, look.after, look.want)
			}
		}
		// Another that ends as soon is warned of by itself.
		validWithin(t, "next.example", begin, begin.Add(c.life)).in(t, filepath.Dir(cert))
		n := 0
		for i := range 4 {
			n += warnings(c.first + day + time.Duration(i+2)*time.Second)
		}
		if n != 1 {
			t.Errorf("of %s: %d warnings of the next certificate, want 1", c.life, n)
		}
	}
}
