package finding

import (
	"encoding/json"
	"io"
	"net/url"
	"strings"

	"github.com/fleetwright/fleetwright/internal/output"
)

// The parts of SARIF 2.1.0 that reports use
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool             sarifTool                `json:"tool"`
		Invocations      []sarifInvocation        `json:"invocations"`
		OriginalURIBases map[string]sarifArtifact `json:"originalUriBaseIds"`
		ColumnKind       string                   `json:"columnKind"`
		Results          []sarifResult            `json:"results"`
		Properties       *sarifRunProperties      `json:"properties,omitempty"`
	}
	// sarifRunProperties are the property bag of a run.
	sarifRunProperties struct {
		Coverage *Coverage `json:"coverage"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Version        string      `json:"version,omitempty"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string             `json:"id"`
		ShortDescription     sarifText          `json:"shortDescription"`
		FullDescription      sarifText          `json:"fullDescription"`
		Help                 sarifText          `json:"help"`
		HelpURI              string             `json:"helpUri,omitempty"`
		DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
		Properties           sarifRuleTags      `json:"properties"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifRuleTags struct {
		Tags []string `json:"tags"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool                `json:"executionSuccessful"`
		Notifications       []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level          string          `json:"level"`
		Message        sarifText       `json:"message"`
		Locations      []sarifLocation `json:"locations,omitempty"`
		AssociatedRule *sarifReference `json:"associatedRule,omitempty"`
	}
	sarifReference struct {
		ID    string `json:"id"`
		Index *int   `json:"index,omitempty"`
	}
	sarifResult struct {
		RuleID              string            `json:"ruleId"`
		RuleIndex           *int              `json:"ruleIndex,omitempty"`
		Level               string            `json:"level"`
		Message             sarifText         `json:"message"`
		Locations           []sarifLocation   `json:"locations"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
		Properties          map[string]string `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI         string     `json:"uri,omitempty"`
		URIBaseID   string     `json:"uriBaseId,omitempty"`
		Description *sarifText `json:"description,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name               string `json:"name"`
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
)

// sourceRoot is the name of a checkout's root in the tools of GitHub and Microsoft.
const sourceRoot = "%SRCROOT%"

// WriteSARIF writes a report as SARIF 2.1.0. Unresolved entries become notifications of the run:
// viewers would show a result as a problem.
func WriteSARIF(w io.Writer, r Report, o MachineOptions) error {
	index := map[string]int{}
	for i, rule := range o.Rules {
		index[rule.ID] = i
	}
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name: "Fleetwright", InformationURI: "https://github.com/fleetwright/fleetwright", Version: o.Version, Rules: sarifRules(o.Rules),
		}},
		Invocations: []sarifInvocation{sarifInvocationOf(r, o, index)},
		OriginalURIBases: map[string]sarifArtifact{
			sourceRoot: {Description: &sarifText{Text: "the root of the checkout"}},
		},
		ColumnKind: "unicodeCodePoints",
		Results:    make([]sarifResult, 0, len(r.Findings)),
	}
	if r.Summary.Coverage != nil {
		run.Properties = &sarifRunProperties{r.Summary.Coverage}
	}
	lines := map[string]int{}
	for _, f := range r.Findings {
		run.Results = append(run.Results, sarifResultOf(f, o, index, lines))
	}
	encoder := json.NewEncoder(output.JSON(w))
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func sarifRules(rules []Rule) []sarifRule {
	out := make([]sarifRule, 0, len(rules))
	for _, r := range rules {
		domain, _, _ := strings.Cut(r.ID, "-")
		out = append(out, sarifRule{
			ID: r.ID, HelpURI: r.URI,
			ShortDescription: sarifText{Text: r.Title}, FullDescription: sarifText{Text: r.Why},
			Help: sarifText{
				Text:     r.Why + "\n\nFix: " + r.Fix,
				Markdown: r.Why + "\n\n**Fix:** " + r.Fix + "\n\n[" + r.ID + "](" + r.URI + ")",
			},
			DefaultConfiguration: sarifConfiguration{Level: sarifLevel(r.Severity)},
			Properties:           sarifRuleTags{Tags: []string{domain}},
		})
	}
	return out
}

func sarifInvocationOf(r Report, o MachineOptions, index map[string]int) sarifInvocation {
	out := sarifInvocation{ExecutionSuccessful: o.Failure == "", Notifications: []sarifNotification{}}
	if o.Failure != "" {
		out.Notifications = append(out.Notifications, sarifNotification{Level: "error", Message: sarifText{Text: o.Failure}})
	}
	for _, u := range r.Unresolved {
		out.Notifications = append(out.Notifications, sarifNotification{
			Level: "note", Message: sarifText{Text: "unresolved: " + u.Reason},
			Locations:      []sarifLocation{{Physical: sarifPlace(o.file(u.File), u.Line, 0)}},
			AssociatedRule: &sarifReference{ID: u.Rule, Index: indexOf(index, u.Rule)},
		})
	}
	return out
}

func sarifResultOf(f Finding, o MachineOptions, index, lines map[string]int) sarifResult {
	place := sarifLocation{Physical: sarifPlace(o.file(f.File), f.Line, f.Column)}
	if name := f.Object.String(); name != "" {
		place.Logical = []sarifLogical{{Name: f.Object.Name, FullyQualifiedName: name, Kind: "resource"}}
	}
	out := sarifResult{
		RuleID: f.Rule, RuleIndex: indexOf(index, f.Rule), Level: sarifLevel(f.Severity),
		Message: sarifText{Text: withHint(f)}, Locations: []sarifLocation{place},
		PartialFingerprints: map[string]string{"fleetwright/v2": f.Fingerprint},
	}
	// GitHub reads this fingerprint, and computes its own if it is missing.
	if source := sourceHash(f, o.Lines); source != "" {
		out.PartialFingerprints["primaryLocationLineHash"] = numbered(lines, source)
	}
	if f.Cluster != "" {
		out.Properties = map[string]string{"cluster": f.Cluster}
	}
	return out
}

func indexOf(index map[string]int, id string) *int {
	if i, ok := index[id]; ok {
		return &i
	}
	return nil
}

func sarifPlace(file string, line, column int) sarifPhysical {
	p := sarifPhysical{Artifact: sarifArtifact{URI: (&url.URL{Path: file}).String(), URIBaseID: sourceRoot}}
	if line > 0 {
		p.Region = &sarifRegion{StartLine: line, StartColumn: column}
	}
	return p
}

func sarifLevel(s Severity) string {
	switch s {
	case Error, Warning:
		return string(s)
	}
	return "note"
}
