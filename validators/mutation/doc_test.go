// Package mutation_test breaks the rendered examples, one thing at a time, and
// asks whether the rule that should find the break does: at the file, line and
// column to mend, and no other rule beside it.
//
// A table of mutants for each domain of rules says what is broken. The text that
// a mutant writes marks the places of the findings itself:
//
//	mutant{
//		name: "path-typo", example: "homelab", rule: "flux-path-missing",
//		edits: []edit{replace("kubernetes/flux/cluster/ks.yaml", "path: ./kubernetes/apps", "path: «»./kubernetes/app")},
//	}
//
// The paths and texts are those of the rendered example, such as `fleetwright render examples/homelab --out DIR`
// writes. The edits besides replace, and the other fields of a mutant, are in harness_test.go.
//
// «» is where the mutant's rule must find something (at the value), «other-rule» where another
// one must. The marks are taken out before the files are loaded.
package mutation_test
