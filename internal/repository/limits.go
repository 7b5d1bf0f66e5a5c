package repository

import (
	"cmp"
	"fmt"
	"path"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// totalNodes returns the number of nodes that the files may have, depending on their sizes.
func (l Limits) totalNodes(found []entry) int64 {
	bytes := int64(0)
	for _, e := range found {
		if holdsDocuments(e.path) {
			bytes += e.size
		}
	}
	return max(l.TotalNodes, min(bytes/limits.ValueBytes, limits.MostValues))
}

// withDefaults replaces zeros with the defaults. These are ten times what real repositories contain: the largest known YAML
// files are CRD bundles of 4 MB and 120,000 nodes, and the largest known Flux repositories have
// 100,000 nodes, others 1,400,000. A fleet of 1,000 tenants on 10 clusters has 3,300,000.
func (l Limits) withDefaults() Limits {
	return Limits{
		TotalBytes: cmp.Or(l.TotalBytes, limits.TotalBytes),
		FileNodes:  cmp.Or(l.FileNodes, limits.FileValues),
		TotalNodes: cmp.Or(l.TotalNodes, limits.TotalValues),
		Files:      cmp.Or(l.Files, limits.Files),
		Parsed:     cmp.Or(l.Parsed, limits.Parsed),
		Documents:  cmp.Or(l.Documents, limits.Documents),
		KeyPairs:   cmp.Or(l.KeyPairs, limits.KeyPairs),
		AliasNodes: cmp.Or(l.AliasNodes, limits.AliasValues),
		AliasBytes: cmp.Or(l.AliasBytes, limits.AliasBytes),
	}
}

// CheckStream returns an error if a YAML stream, which contains the documents of many files, has more bytes or values than
// the files of a repository may have. It does not parse the stream.
func CheckStream(data []byte) *Error {
	if len(data) > limits.TotalBytes {
		return &Error{Reason: TooLarge, Message: "it is larger than " + megabytes(limits.TotalBytes)}
	}
	most := Limits{}.withDefaults().totalNodes([]entry{{path: "stream.yaml", size: int64(len(data))}})
	if estimate := nodeEstimate(data); estimate > most {
		return &Error{Reason: TooLarge, Message: fmt.Sprintf("it holds up to %d values; up to %d are read", estimate, most)}
	}
	return nil
}

// nodeEstimate returns an upper bound (except for a constant) of the number of YAML nodes in
// data: it counts each byte that can start, end or separate a node.
func nodeEstimate(data []byte) int64 {
	var n int64
	for _, b := range data {
		switch b {
		case '\n', ',', ':', '[', '{', '-', '?':
			n++
		}
	}
	return n
}

// entry is a regular file in the repository's folder.
type entry struct {
	path string
	size int64
	err  error
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

// holdsDocuments reports whether a file may contain documents according to its name: it is a YAML or JSON file, or is
// called Kustomization.
func holdsDocuments(p string) bool {
	switch path.Ext(p) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return path.Base(p) == "Kustomization"
}
