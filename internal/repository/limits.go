package repository

import (
	"fmt"
	"path"
)

// mostNodes is the maximum number of nodes in a repository, and bytesPerNode the number of bytes that allow one node.
const (
	mostNodes    = 4_000_000
	bytesPerNode = 8
)

// totalNodes returns the number of nodes that the files may have, depending on their sizes.
func (l Limits) totalNodes(found []entry) int64 {
	bytes := int64(0)
	for _, e := range found {
		if holdsDocuments(e.path) {
			bytes += e.size
		}
	}
	return max(l.TotalNodes, min(bytes/bytesPerNode, mostNodes))
}

// defaultLimits returns limits of ten times what real repositories contain: the largest known YAML
// files are CRD bundles of 4 MB and 120,000 nodes, and the largest known Flux repositories have
// 100,000 nodes, others 1,400,000. A fleet of 1,000 tenants on 10 clusters has 3,300,000.
func defaultLimits() Limits {
	return Limits{
		FileBytes:  10 << 20,
		ReadBytes:  10 << 20,
		TotalBytes: MostStream,
		FileNodes:  1_000_000,
		TotalNodes: 1_500_000,
		Files:      200_000,
		Parsed:     50_000,
		Documents:  10_000,
		Depth:      200,

		Levels:        3_000_000,
		TotalLevels:   8_000_000,  // three times the largest known repository
		KeyPairs:      10_000_000, // a map of 4,500 keys
		TotalKeyPairs: 30_000_000,

		AliasNodes:      1_000_000,
		AliasBytes:      10 << 20,
		TotalAliasNodes: 1_000_000,
		TotalAliasBytes: 32 << 20,
	}
}

func (l Limits) withDefaults() Limits {
	or := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	orInt := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	d := defaultLimits()
	or(&l.FileBytes, d.FileBytes)
	or(&l.ReadBytes, d.ReadBytes)
	or(&l.TotalBytes, d.TotalBytes)
	or(&l.FileNodes, d.FileNodes)
	or(&l.TotalNodes, d.TotalNodes)
	or(&l.Levels, d.Levels)
	or(&l.TotalLevels, d.TotalLevels)
	or(&l.KeyPairs, d.KeyPairs)
	or(&l.TotalKeyPairs, d.TotalKeyPairs)
	or(&l.AliasNodes, d.AliasNodes)
	or(&l.AliasBytes, d.AliasBytes)
	or(&l.TotalAliasNodes, d.TotalAliasNodes)
	or(&l.TotalAliasBytes, d.TotalAliasBytes)
	orInt(&l.Files, d.Files)
	orInt(&l.Parsed, d.Parsed)
	orInt(&l.Documents, d.Documents)
	orInt(&l.Depth, d.Depth)
	return l
}

// MostStream is the maximum number of bytes that CheckStream allows.
const MostStream = 64 << 20

// CheckStream returns an error if a YAML stream, which contains the documents of many files, has more bytes or values than
// the files of a repository may have. It does not parse the stream.
func CheckStream(data []byte) *Error {
	limits := defaultLimits()
	if len(data) > MostStream {
		return &Error{Reason: TooLarge, Message: "it is larger than " + megabytes(MostStream)}
	}
	most := limits.totalNodes([]entry{{path: "stream.yaml", size: int64(len(data))}})
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
