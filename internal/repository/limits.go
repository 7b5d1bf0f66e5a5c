package repository

import (
	"fmt"
	"path"
)

// mostNodes are what a large repository may have, where most are no single letters.
const (
	mostNodes    = 4_000_000
	bytesPerNode = 8
)

// totalNodes is how many nodes files of some size may have.
func (l Limits) totalNodes(found []entry) int64 {
	bytes := int64(0)
	for _, e := range found {
		if holdsDocuments(e.path) {
			bytes += e.size
		}
	}
	return max(l.TotalNodes, min(bytes/bytesPerNode, mostNodes))
}

// defaultLimits leave an order of magnitude above what real repositories hold:
// the largest known YAML files are CRD bundles of 4 MB and 120,000 nodes, and the
// largest known repositories of Flux's have 100,000 nodes, of others 1,400,000. A fleet of
// 1,000 tenants on 10 clusters has 3,300,000.
func defaultLimits() Limits {
	return Limits{
		FileBytes:  10 << 20,
		ReadBytes:  10 << 20,
		TotalBytes: 64 << 20,
		FileNodes:  1_000_000,
		TotalNodes: 1_500_000,
		Files:      200_000,
		Parsed:     50_000,
		Documents:  10_000,
		Depth:      200,

		Levels:        3_000_000,
		TotalLevels:   8_000_000,  // three times the largest repository known
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

// nodeEstimate is an upper bound (but for a constant) of the YAML nodes in a
// text: each byte that can start, end or separate one counts.
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

// entry is a regular file that was found.
type entry struct {
	path string
	size int64
	err  error
}

// entryBytes is how many bytes of input a file counts as where the run's bounds grow.
const entryBytes = 20

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

// holdsDocuments says whether a file is YAML by its name. JSON files are looked
// into for an object.
func holdsDocuments(p string) bool {
	switch path.Ext(p) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return path.Base(p) == "Kustomization"
}
