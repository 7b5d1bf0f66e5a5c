package repository

// Limits bound what loading may cost. A zero field takes its default.
type Limits struct {
	// FileBytes is the size up to which a YAML file is parsed.
	FileBytes int64
	// ReadBytes is the size up to which ReadFile reads any file.
	ReadBytes int64
	// TotalBytes is the size of all YAML files together.
	TotalBytes int64
	// FileNodes bounds the YAML nodes of one file, estimated before it is
	// parsed; a node takes 160 bytes of memory.
	FileNodes int64
	// TotalNodes bounds the YAML nodes of all files. In a repository of more than 8 bytes for each of so
	// many, it is a node for each 8 bytes, up to mostNodes.
	TotalNodes int64
	// Files is the number of files and folders that are visited, Parsed that of the files among them that
	// may hold documents.
	Files, Parsed int
	// Documents is the number of documents in one file.
	Documents int
	// Depth is how deep a document may nest, aliases followed, and folders.
	Depth int
	// Levels bounds the nodes of one document, each counted as often as it is deep:
	// libraries copy what is in a map for each map around it, and what an alias stands
	// for at each alias. TotalLevels bounds those of all documents that are deep.
	Levels, TotalLevels int64
	// KeyPairs bounds the pairs of keys in the maps of one document: libraries
	// compare each key of a map with each other. TotalKeyPairs bounds those of all
	// documents, where they are more than a few.
	KeyPairs, TotalKeyPairs int64
	// AliasNodes and AliasBytes bound the nodes and the text of one document after
	// its aliases expand, where it has any.
	AliasNodes, AliasBytes int64
	// TotalAliasNodes and TotalAliasBytes bound what aliases add to all documents.
	TotalAliasNodes, TotalAliasBytes int64
}

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
