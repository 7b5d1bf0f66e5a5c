package bootstrap

import "strings"

// IntendedAnnotation of a HelmRelease declares intended differences from its bootstrap: "FIELD:
// reason; FIELD: reason". A field is one of a report's: release, namespace, storageNamespace, chart,
// version, values, or a path such as values.hubble, which includes everything below it.
const IntendedAnnotation = "fleetwright.dev/bootstrap-intended"

// Declaration is a declared difference that does not exist, or an invalid declaration.
type Declaration struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Cluster string `json:"cluster"`
	Release string `json:"release"`
	Field   string `json:"field"`
	Message string `json:"message"`

	object Object
}

// Object returns the namespace and name of the HelmRelease.
func (d Declaration) Object() Object { return d.object }

// intended is a declared difference.
type intended struct {
	field, reason string
	used          bool
}

// covers reports whether the declaration includes a field.
func (i *intended) covers(field string) bool {
	rest, below := strings.CutPrefix(field, i.field)
	return i.reason != "" && below && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

type declarationKey struct {
	file  string
	line  int
	field string
}

func (d Declaration) key() declarationKey { return declarationKey{d.File, d.Line, d.Field} }
