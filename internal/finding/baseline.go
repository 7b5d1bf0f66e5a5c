package finding

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Baseline contains the findings that a repository had when its owners began to validate it; only new
// ones are reported.
type Baseline struct {
	// Findings of the baseline, in the order of a report.
	Findings []Known
}

// Known is a finding of a baseline. It has no line, so that it stays the same when
// the line moves.
type Known struct {
	Rule    string `json:"rule"`
	File    string `json:"file"`
	Object  string `json:"object,omitempty"`
	Cluster string `json:"cluster,omitempty"`
	Message string `json:"message"`
	// Fingerprint is the one of reports; in baselines of versions before 0.2, a digest of the message.
	// Source identifies the finding by the content of its line.
	Fingerprint string `json:"fingerprint"`
	Source      string `json:"source,omitempty"`
}

// baselineVersion is the version of the file format.
const baselineVersion = 1

// baselineFile is the JSON form of a baseline.
type baselineFile struct {
	Version  int     `json:"version"`
	Findings []Known `json:"findings"`
}

// MaxBaseline is the size of the largest baseline that is read, in bytes: about
// 100,000 findings.
const MaxBaseline = 64 << 20

// NewBaseline creates a baseline from a report's findings. Lines may be nil.
func NewBaseline(r Report, lines Lines) *Baseline {
	b := &Baseline{Findings: make([]Known, 0, len(r.Findings))}
	for _, f := range r.Findings {
		b.Findings = append(b.Findings, newKnown(f, lines))
	}
	return b
}

func newKnown(f Finding, lines Lines) Known {
	return Known{
		Rule: f.Rule, File: f.File, Object: f.Object.String(), Cluster: f.Cluster, Message: f.Message,
		Fingerprint: fingerprint(f), Source: sourceHash(f, lines),
	}
}

// Write writes a baseline as JSON, a finding on each line.
func (b *Baseline) Write(w io.Writer) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n  \"version\": %d,\n  \"findings\": [", baselineVersion)
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for i, k := range b.Findings {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		if err := encoder.Encode(k); err != nil {
			return err
		}
		out.Truncate(out.Len() - 1) // removes the line break that Encode wrote
	}
	if len(b.Findings) > 0 {
		out.WriteString("\n  ")
	}
	out.WriteString("]\n}\n")
	_, err := w.Write(out.Bytes())
	return err
}

// ReadBaseline reads a baseline that Write wrote.
func ReadBaseline(data []byte) (*Baseline, error) {
	if len(data) > MaxBaseline {
		return nil, fmt.Errorf("is larger than %d MB", MaxBaseline>>20)
	}
	var file baselineFile
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("is not a baseline: %w", plainJSON(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("is not a baseline: something follows its end")
	}
	if file.Version != baselineVersion {
		return nil, fmt.Errorf("is a baseline of version %d; version %d is read", file.Version, baselineVersion)
	}
	for i, k := range file.Findings {
		if k.Rule == "" || k.Fingerprint == "" {
			return nil, fmt.Errorf("is not a baseline: findings[%d] has no rule or no fingerprint", i)
		}
	}
	return &Baseline{Findings: file.Findings}, nil
}

// plainJSON removes the package's name from an error.
func plainJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// keys returns the digests that identify an entry, the most reliable first: of its message, of the content of its line, and
// of the names in its message; "" if there is none.
func (k Known) keys() [3]string {
	named := ""
	if all := names(k.Message); len(all) > 0 {
		named = k.digest("names", strings.Join(all, "\x00"))
	}
	return [3]string{k.digest("message", withoutPositions(k.Message)), k.Source, named}
}

func (k Known) digest(what, text string) string {
	return digest(what, k.Rule, k.File, k.Object, k.Cluster, text)
}

// Split separates the findings that are not in a baseline from those that are, and returns the entries
// of the baseline without a finding. Each entry matches one finding: first by its message, then by its
// line, and then by the names in its message, because a later version may reword it. lines may be nil.
func (b *Baseline) Split(findings []Finding, lines Lines) (fresh, known []Finding, gone []Known) {
	entries := [3]map[string][]int{{}, {}, {}}
	for i, k := range b.Findings {
		for step, key := range k.keys() {
			if key != "" {
				entries[step][key] = append(entries[step][key], i)
			}
		}
	}
	used := make([]bool, len(b.Findings))
	take := func(from map[string][]int, key string) bool {
		for list := from[key]; len(list) > 0; list = from[key] {
			from[key] = list[1:]
			if !used[list[0]] {
				used[list[0]] = true
				return true
			}
		}
		return false
	}
	keys, matched := make([][3]string, len(findings)), make([]bool, len(findings))
	for i, f := range findings {
		keys[i] = newKnown(f, lines).keys()
	}
	for step := range entries {
		for i := range findings {
			matched[i] = matched[i] || take(entries[step], keys[i][step])
		}
	}
	for i, f := range findings {
		if matched[i] {
			known = append(known, f)
		} else {
			fresh = append(fresh, f)
		}
	}
	for i, k := range b.Findings {
		if !used[i] {
			gone = append(gone, k)
		}
	}
	return fresh, known, gone
}
