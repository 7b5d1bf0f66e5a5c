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

// validateFlags are the flags of validate, and what belongs to one run of it.
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
	baseline         string
	writeBaseline    string
	reportIgnored    bool
	verbose          bool

	given func(flag string) bool // by a flag or the environment
}

// validation is one run of validate.
type validation struct {
	streams
	folder
	flags *validateFlags
	// unnamed says that nobody named the folder, and unsynced that nothing in it says what a
	// cluster syncs.
	unnamed, unsynced bool
	start             time.Time
	repo              *repository.Repository
	// sources are the repositories of --source.
	sources map[string]*repository.Repository
	config  functions.Validation
	rules   []finding.Rule
	report  finding.Report
}

// hasConfiguration says whether something in a folder has the name of the
// configuration file, be it only a link, which is not followed.
func hasConfiguration(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, validators.ConfigurationFile))
	return err == nil
}
