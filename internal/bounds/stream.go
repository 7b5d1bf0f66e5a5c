package bounds

import (
	"os"
	"sync/atomic"
)

// Stream is an output of the process. It skips what an earlier image has already written.
type Stream struct {
	file    *os.File
	skip    int64
	written atomic.Int64
}

// Write writes the bytes that no earlier image has written to the file.
func (s *Stream) Write(p []byte) (int, error) {
	left := p
	if before := s.written.Load(); before < s.skip {
		n := min(s.skip-before, int64(len(p)))
		s.written.Add(n)
		left = p[n:]
	}
	n, err := s.file.Write(left)
	s.written.Add(int64(n))
	return len(p) - len(left) + n, err
}

// File is the stream's file: a terminal, a pipe or a file on disk.
func (s *Stream) File() *os.File { return s.file }
