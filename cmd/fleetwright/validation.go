package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
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

	isSet func(flag string) bool // reports whether the command line or the environment sets the flag
}

// validation is one run of validate.
type validation struct {
	streams
	folder
	flags   *validateFlags
	unnamed bool // the command line did not name the folder
	start   time.Time
	repo    *repository.Repository
	fleet   *reconcile.Fleet // nil if the clusters were not evaluated
	// sources are the repositories that --source names.
	sources map[string]*repository.Repository
	config  validators.Configuration
	rules   []finding.Rule
	report  finding.Report
}

// hasConfiguration reports whether a folder has a file, or a symlink, with the name of the configuration file. It does
// not follow the symlink.
func hasConfiguration(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, validators.ConfigurationFile))
	return err == nil
}
