package testkit

import (
	"encoding/binary"
	"io"
)

// The opcodes of WebSocket frames, and the bit that the last frame of a message has beside its opcode (RFC 6455,
// 5.2).
const (
	OpContinuation = 0
	OpText         = 1
	OpBinary       = 2
	OpClose        = 8
	OpPing         = 9
	OpPong         = 10
	Final          = 0x80
)

// Frame returns a masked frame as a client sends it, byte by byte, so that it can be one that a library would not
// send. The first byte is an opcode, with Final or without.
func Frame(first byte, payload string) []byte {
	n := len(payload)
	b := []byte{first, 0x80 | 126, byte(n >> 8), byte(n)}
	switch {
	case n < 126:
		b = []byte{first, 0x80 | byte(n)}
	case n > 0xffff:
		b = binary.BigEndian.AppendUint64([]byte{first, 0x80 | 127}, uint64(n))
	}
	mask := [4]byte{1, 2, 3, 4}
	b = append(b, mask[:]...)
	for i := range n {
		b = append(b, payload[i]^mask[i%4])
	}
	return b
}

// ReadFrame reads a frame of a server, which is not masked. Of a payload it reads at most so many bytes; if it
// is longer the error is io.ErrUnexpectedEOF.
func ReadFrame(r io.Reader, most int64) (op byte, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := uint64(head[1])
	if wide := map[uint64]int{126: 2, 127: 8}[size]; wide > 0 {
		var b [8]byte
		if _, err := io.ReadFull(r, b[8-wide:]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(b[:])
	}
	payload, err = io.ReadAll(io.LimitReader(r, int64(min(size, uint64(most)))))
	if err == nil && uint64(len(payload)) < size {
		err = io.ErrUnexpectedEOF
	}
	return head[0] & 15, payload, err
}
