package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fleetwright/fleetwright/internal/output"
)

// The formats of a report.
const (
	formatText   = "text"
	formatJSON   = "json"
	formatSARIF  = "sarif"
	formatJUnit  = "junit"
	formatGitHub = "github"
	formatGitLab = "gitlab"
)

// reportFormats are the formats of a validation's report.
var reportFormats = []string{formatText, formatJSON, formatSARIF, formatJUnit, formatGitHub, formatGitLab}

// choice is a flag that accepts one of a few values.
type choice struct {
	to      *string
	allowed []string
}

var _ pflag.Value = choice{}

func oneOf(to *string, allowed ...string) choice { return choice{to, allowed} }

// Set sets the flag to one of the allowed values.
func (c choice) Set(v string) error {
	if !slices.Contains(c.allowed, v) {
		return fmt.Errorf("want %s", alternatives(c.allowed))
	}
	*c.to = v
	return nil
}

func (c choice) String() string {
	if c.to == nil {
		return ""
	}
	return *c.to
}

// Type returns the name of the value in the help.
func (c choice) Type() string { return strings.Join(c.allowed, "|") }

// writeJSON prints a report as indented JSON.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(output.JSON(w))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
