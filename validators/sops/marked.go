package sops

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// marked are the files whose text speaks of something, in the order of their paths.
type marked struct {
	// keys are private ones, secrets those of Kubernetes; structured are settings that may be YAML.
	keys, secrets, structured []string
	// drawn is what most likely is a secret in other files of settings, of which unjudged is the first that
	// was not looked through, since there are too many; "" for none.
	drawn    []drawn
	unjudged string
	// beyond is the first file that was not read, since there are too many; "" for none.
	beyond string
}

// report reports the files that were not read.
func (m marked) report(p *rule.Pass) {
	if m.beyond != "" {
		p.Report(rule.Exceeded(finding.Finding{File: m.beyond}, "the content of this file and the following ones",
			fmt.Sprintf("the repository has more than %d MB of text, or %d MB of other files", mostKeyFiles>>20, mostBinary>>20)))
	}
}

// texts reads all files of text once.
var texts = rule.Analysis[marked]{
	Name: "sops-texts",
	RunPass: func(p *rule.Pass) marked {
		var m marked
		search := &credential.Search{Left: mostSettings}
		read, all := 0, 0
		for _, file := range p.Repo.Paths() {
			if binaryNames[strings.ToLower(path.Ext(file))] {
				continue
			}
			size, _ := p.Repo.Size(file)
			settings := isSettings(p, file)
			if size < leastKeyFile && !settings {
				continue
			}
			data, err := p.Repo.ReadFile(file)
			if err != nil {
				continue
			}
			bounds.GrowRun(len(data) / searched)
			isText := bytes.IndexByte(data[:min(len(data), fewBytes)], 0) < 0
			if all += len(data); isText {
				read += len(data)
			}
			if read > mostKeyFiles || all > mostBinary {
				m.beyond = file
				return m
			}
			m.mark(p, search, file, data, settings && isText)
		}
		return m
	},
}

// mark looks through a file.
func (m *marked) mark(p *rule.Pass, search *credential.Search, file string, data []byte, settings bool) {
	if credential.MayHoldKey(data) {
		m.keys = append(m.keys, file)
	}
	if len(data) > mostSecretFile {
		return
	}
	if secrets.SpeaksOfSecret(data) {
		m.secrets = append(m.secrets, file)
	}
	if !settings {
		return
	}
	switch text := string(data); {
	case isStructured(file, text):
		m.structured = append(m.structured, file)
	default:
		if d := judged(p, search, file, text); d != nil {
			m.drawn = append(m.drawn, *d)
		}
		if search.Left < 0 {
			m.unjudged = cmp.Or(m.unjudged, file)
		}
	}
}

const (
	leastKeyFile = 60
	mostKeyFiles = 256 << 20 // of text, all together
	// searched is how many bytes that are looked through cost as much as one that is parsed.
	searched     = 100
	mostBinary   = 1 << 30  // of text and others
	mostMarked   = 12 << 20 // of those that speak of keys, and are looked through
	mostSettings = 1 << 20  // of the lines of settings that speak of secrets, in files that are no documents
	fewBytes     = 8 << 10  // at the beginning of a file, with a zero in one that holds no text
)

// binaryNames end the names of files that hold no text.
var binaryNames = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".svg": true, ".ico": true, ".webp": true, ".pdf": true, ".zip": true, ".gz": true, ".tgz": true,
	".woff": true, ".woff2": true, ".ttf": true, ".mp4": true, ".lock": true, ".sum": true,
}
