package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/fleetwright/fleetwright/functions"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators"
)

// validateFlags are the flags of validate, and the state of one run.
type validateFlags struct {
	format           string
	rules            []string
	profiles         []string
	schemas          []string
	cluster          string
	changedSince     string
	fix              bool
	graph            graphFlags
	failOn           string
	failOnUnresolved bool
	config           string
	kubernetes       string
	baseline         string
	writeBaseline    string
	reportIgnored    bool
	verbose          bool
	coverage         bool
	minCoverage      int

	given func(flag string) bool // by a flag or the environment
}

// validation is one run of validate.
type validation struct {
	streams
	folder
	flags *validateFlags
	// unnamed reports whether the command line did not name the folder. unsynced reports whether nothing in the
	// folder says what a cluster syncs.
	unnamed, unsynced bool
	start             time.Time
	repo              *repository.Repository
	// sources are the repositories that --source names.
	sources map[string]*repository.Repository
	// branches are the other branches of the repository that clusters apply.
	branches []*repository.Repository
	// fetched are the fetched sources that clusters use.
	fetched []*repository.Repository
	config  functions.Validation
	rules   []finding.Rule
	report  finding.Report
}

// hasConfiguration reports whether a folder has a file with the name of the configuration file, or a link,
// which is not followed.
func hasConfiguration(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, validators.ConfigurationFile))
	return err == nil
}
