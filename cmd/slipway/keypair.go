package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"slipway/internal/base/setting"
)

const (
	// lookEvery is the time between two looks at the files of the pair.
	lookEvery = time.Second
	// warnBefore is how long before the end of the certificate the log says so, at the latest when a third of its life is
	// left, and warnEvery how often.
	warnBefore = 14 * 24 * time.Hour
	warnEvery  = 24 * time.Hour
	// maxPairFile is the longest file of a pair, in bytes.
	maxPairFile = 1 << 20
)

// keyPair is the certificate that the API is served with and its key, from two files that may change at any time.
type keyPair struct {
	certFile, keyFile string
	log               *slog.Logger
	current           atomic.Pointer[tls.Certificate]

	// seen is what the files were at the last look, and due whether they have not been read since.
	seen [2]fileState
	due  bool
	// refused is why what was read last was not taken, empty if it was.
	refused string
	// warned is when the log last said that the certificate ends.
	warned time.Time
}

// readPair reads the certificate and the key, if there are any. Without them the API is served over plain HTTP.
func (s *settings) readPair(log *slog.Logger) (err error) {
	switch {
	case s.tlsCert == "" && s.tlsKey == "":
		return nil
	case s.tlsKey == "":
		return setting.Usagef("--tls-cert: want --tls-key as well, found none")
	case s.tlsCert == "":
		return setting.Usagef("--tls-key: want --tls-cert as well, found none")
	}
	s.pair, err = newKeyPair(s.tlsCert, s.tlsKey, log)
	return err
}

func newKeyPair(certFile, keyFile string, log *slog.Logger) (*keyPair, error) {
	p := &keyPair{certFile: certFile, keyFile: keyFile, log: log}
	p.seen = p.files()
	pair, err := p.read(time.Now())
	if err != nil {
		return nil, fmt.Errorf("cannot serve TLS: %w", err)
	}
	p.take(pair)
	return p, nil
}

// config returns how to serve TLS with the pair. Connections keep the certificate that they began with.
func (p *keyPair) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.current.Load(), nil },
	}
}

// watch looks at the files until ctx ends.
func (p *keyPair) watch(ctx context.Context) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case now := <-ticks.C:
			p.look(now)
		case <-ctx.Done():
			return
		}
	}
}

// look takes what the files have, once they have changed and then been left alone until the next look: they may be
// halfway written. What cannot be taken is read again at each look, for what is wrong may be a file's mode, which is no
// change of the file; it is logged once.
func (p *keyPair) look(now time.Time) {
	p.warn(now)

	if found := p.files(); !found[0].equal(p.seen[0]) || !found[1].equal(p.seen[1]) {
		p.seen, p.due = found, true
		return
	}

	if !p.due && p.refused == "" {
		return
	}

	pair, err := p.read(now)
	switch {
	case err == nil:
		p.refused = ""
		p.take(pair)
	case p.due || err.Error() != p.refused:
		p.refused = err.Error()
		p.log.Warn("the TLS certificate or its key has changed and cannot be used; the ones before are served on",
			"reason", p.refused)
	}
	p.due = false
}

// warn logs once a day that the certificate ends soon.
func (p *keyPair) warn(now time.Time) {
	leaf := p.current.Load().Leaf
	left := leaf.NotAfter.Sub(now)
	if left < min(warnBefore, leaf.NotAfter.Sub(leaf.NotBefore)/3) && now.Sub(p.warned) >= warnEvery {
		p.warned = now
		p.log.Warn("the TLS certificate ends soon; put a new pair into its files",
			"file", p.certFile, "notAfter", leaf.NotAfter)
	}
}

// take has new connections use a pair.
func (p *keyPair) take(pair *tls.Certificate) {
	p.current.Store(pair)
	p.warned = time.Time{}
	p.log.Info("took the TLS certificate", "file", p.certFile, "names", names(pair.Leaf), "notAfter", pair.Leaf.NotAfter)
	const others = 0o077
	if key := p.seen[1].info; key != nil && key.Mode()&others != 0 {
		p.log.Warn("the key of the TLS certificate is not for its owner alone; chmod 600 makes it so",
			"file", p.keyFile, "mode", key.Mode().Perm().String())
	}
}

// names lists for whom a certificate is.
func names(leaf *x509.Certificate) []string {
	list := append([]string{}, leaf.DNSNames...)
	for _, address := range leaf.IPAddresses {
		list = append(list, address.String())
	}
	return list
}

// read reads the pair. Its errors name the file, and nothing of what a key has in it.
func (p *keyPair) read(now time.Time) (*tls.Certificate, error) {
	certs, err := readPEM(p.certFile)
	if err != nil {
		return nil, err
	}
	if err := checkCertificates(certs, now); err != nil {
		return nil, fmt.Errorf("%s: %w", p.certFile, err)
	}

	key, err := readPEM(p.keyFile)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(key, []byte("-----BEGIN ENCRYPTED PRIVATE KEY")) {
		return nil, fmt.Errorf("%s: want a key without a passphrase, found one that is encrypted", p.keyFile)
	}

	pair, err := tls.X509KeyPair(certs, key)
	if err != nil {
		return nil, fmt.Errorf("the key of %s is none for the certificate of %s: %w", p.keyFile, p.certFile, err)
	}
	return &pair, nil
}

// readPEM reads a file of a pair. Anything but a file might keep its reader waiting, or have nothing the second time.
func readPEM(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: want a file, found something else: %s", path, info.Mode())
	}
	return readWithin(path, maxPairFile)
}

// checkCertificates returns an error unless the text is certificates, all of them whole, and the first is valid now.
func checkCertificates(text []byte, now time.Time) error {
	var list []*x509.Certificate
	blocks := 0

	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		blocks++
		if block.Type != "CERTIFICATE" {
			continue
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return err
		}
		list = append(list, one)
	}

	const layout = time.RFC3339
	switch {
	case bytes.Count(text, []byte("-----BEGIN ")) != blocks: // pem.Decode passes over what is not whole
		return errors.New("a part of it is no PEM, or not whole")
	case len(list) == 0:
		return errors.New("want a certificate in PEM, found none")
	case now.After(list[0].NotAfter):
		return fmt.Errorf("the certificate has expired at %s", list[0].NotAfter.Format(layout))
	case now.Before(list[0].NotBefore):
		return fmt.Errorf("the certificate is not valid before %s", list[0].NotBefore.Format(layout))
	}
	return nil
}

// fileState tells whether a file has changed, also if its name is a link, or has become another file's.
type fileState struct {
	info os.FileInfo // nil if there is an error
	err  string
}

func (p *keyPair) files() [2]fileState { return [2]fileState{stateOf(p.certFile), stateOf(p.keyFile)} }

func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{err: err.Error()}
	}
	return fileState{info: info}
}

func (s fileState) equal(other fileState) bool {
	if s.info == nil || other.info == nil {
		return s.info == other.info && s.err == other.err
	}
	return os.SameFile(s.info, other.info) && s.info.ModTime().Equal(other.info.ModTime()) &&
		s.info.Size() == other.info.Size()
}
