// Package limits contains the maximum values of counters, for inputs whose processing can explode. Each counter is exact and the
// same on every machine, and far above what a real repository needs. A repository that exceeds one gets the finding
// limit-exceeded; docs/security.md has the table. Package bounds guards the work that cannot be counted.
package limits

// The content of a repository, of a revision of it, or of a stream.
const (
	FileBytes  = 10 << 20
	TotalBytes = 64 << 20
	Files      = 200_000
	Parsed     = 50_000
	Documents  = 10_000
	Nesting    = 200

	FileValues  = 1_000_000
	TotalValues = 1_500_000
	MostValues  = 4_000_000
	ValueBytes  = 8
	Levels      = 8_000_000  // three times the largest known repository
	KeyPairs    = 30_000_000 // a map of 7,700 keys
	AliasValues = 1_000_000
	AliasBytes  = 32 << 20

	IgnoreBytes    = 1 << 20
	IgnorePatterns = 500
	IgnoreSteps    = 100_000_000 // characters of patterns, compared with each part of each path
	IgnoreLength   = 1_000
	Ignores        = 1_000
	Committed      = 100 << 20
	Branches       = 1_000
	Deltas         = 4095 // as git, whose default is 50
	DeltaBytes     = 4 * FileBytes
	ChainBytes     = 64 * FileBytes
)

// Numbers, regular expressions, schemas and expressions in CEL.
const (
	Digits           = 400 // a float64 has up to 308
	Pattern          = 50_000
	ShortPattern     = 2_000
	PatternsTogether = 200_000
	PatternsOfRules  = 20_000
	PatternSteps     = 200_000_000
	ListElements     = 100_000
	ListCopies       = 20_000_000
	SchemaParts      = 100_000

	CELCharacters = 20_000
	CELCost       = 300_000 // the API server allows 10,000,000, for which it estimates a second (pkg/apis/cel/config.go)
	PolicyCost    = 5_000_000
	ReplacedBytes = 32 << 20
	JudgedBytes   = 64 << 10
)

// The objects that clusters apply.
const (
	Reads              = 20_000
	BuiltFolders       = 3_000
	ComponentNesting   = 10
	PatchCopies        = 1 << 20
	Doublings          = 5
	Inserted           = 256 << 20
	Objects            = 30_000
	ObjectCopies       = 15
	Variables          = 500_000
	ObjectVariables    = 50_000
	VariableNesting    = 50
	Growth             = 4 << 20
	ComparedSquares    = 100_000_000
	Kustomizations     = 20_000
	KustomizationChain = 3
	Comparisons        = 1_000_000
	HelmReleases       = 20_000
	UnappliedFolders   = 50
	EnclosingFolders   = 50
	SetInputs          = 1_000
	SetObjects         = 5_000
	Labels             = 100
)

// Charts, templates and bootstraps.
const (
	ChartFiles     = 10_000
	ChartFileBytes = 5 << 20  // as Helm
	ArchiveBytes   = 10 << 20 // as source-controller
	ChartBytes     = 32 << 20
	AllChartBytes  = 128 << 20
	LibraryFiles   = 100_000
	Subcharts      = 10
	Charts         = 4
	ChartValues    = 1_000_000
	ChartText      = 500_000

	Actions        = 100_000
	OpenBlocks     = 20_000
	TemplateBytes  = 1 << 20
	ChartOutput    = 16 << 20
	ChartTexts     = 128 << 20
	TemplateOutput = 8 << 20 // of a bootstrap or ResourceSet
	Includes       = 50
	Repetitions    = 1_000_000
	Elements       = 20_000_000

	Helmfiles = 200
	Inherited = 20_000
)

// The text that is searched for secrets, and the content of a report.
const (
	NestedTexts   = 3
	SettingsBytes = 1 << 20
	SearchedText  = 256 << 20
	SearchedBytes = 1 << 30
	KeyFileBytes  = 12 << 20
	Findings      = 5_000
	MessageBytes  = 4 << 10
)
