package charts

import (
	"sync"

	"github.com/fleetwright/fleetwright/internal/bounds"
)

// Shelf loads charts by the digest of their archives, each once. It is safe for concurrent use.
type Shelf struct {
	read func(digest string) ([]byte, error)

	mu   sync.Mutex
	kept map[string]*shelved
}

type shelved struct {
	once  sync.Once
	chart *Chart
	err   error
}

// NewShelf returns a shelf that reads archives with a function.
func NewShelf(read func(digest string) ([]byte, error)) *Shelf {
	return &Shelf{read: read, kept: map[string]*shelved{}}
}

// Load returns the chart with the digest of its archive; name is its name in messages. The error is that of reading, or
// says why the chart cannot be loaded.
func (s *Shelf) Load(name, digest string) (*Chart, error) {
	s.mu.Lock()
	one := s.kept[digest]
	if one == nil {
		one = &shelved{}
		s.kept[digest] = one
	}
	s.mu.Unlock()
	one.once.Do(func() {
		data, err := s.read(digest)
		if err != nil {
			one.err = err
			return
		}
		one.chart, one.err = bounds.Do(bounds.Unit{Kind: "loading", Name: "the chart " + name}, func() (*Chart, error) {
			c, err := withDefinitions(loadPacked(data))
			if err == nil {
				c.Digest = digest
			}
			return c, err
		})
	})
	return one.chart, one.err
}

// Check returns the name and version of a chart in an archive, or why helm-controller could not load it.
func Check(archive []byte) (name, version string, err error) {
	c, err := loadPacked(archive)
	if err != nil {
		return "", "", err
	}
	return c.Name, c.Version, nil
}
