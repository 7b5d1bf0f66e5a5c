package sops

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// marked lists the files whose content may contain secrets, in the order of their paths.
type marked struct {
	// keys are files that mention private keys. secrets are files that mention Secrets of Kubernetes.
	// structured are configuration files that may be YAML.
	keys, secrets, structured []string
	// drawn are the likely secrets in other configuration files. unjudged is the first such file that was not
	// checked because there are too many; "" for none.
	drawn    []drawn
	unjudged string
	// unreadFrom is the first file that was not read because there are too many; "" for none.
	unreadFrom string
}

// report reports that files were not read.
func (m marked) report(p *rule.Pass) {
	if m.unreadFrom != "" {
		p.Report(rule.Exceeded(finding.Finding{Place: finding.Place{File: m.unreadFrom}}, "the content of this file and the following ones",
			fmt.Sprintf("the repository has more than %d MB of text, or %d MB of other files", limits.SearchedText>>20, limits.SearchedBytes>>20)))
	}
}

// texts reads all text files once.
var texts = rule.Analysis[marked]{
	Name: "sops-texts",
	RunPass: func(p *rule.Pass) marked {
		var m marked
		search := &credential.Search{Left: limits.SettingsBytes}
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
			isText := bytes.IndexByte(data[:min(len(data), fewBytes)], 0) < 0
			if all += len(data); isText {
				read += len(data)
			}
			if read > limits.SearchedText || all > limits.SearchedBytes {
				m.unreadFrom = file
				return m
			}
			m.mark(p, search, file, data, settings && isText)
			if isText && len(data) <= limits.SettingsBytes && otherTexts[strings.ToLower(path.Ext(file))] && !settings {
				m.token(file, string(data))
			}
		}
		return m
	},
}

// mark checks a file.
func (m *marked) mark(p *rule.Pass, search *credential.Search, file string, data []byte, settings bool) {
	if credential.MayHoldKey(data) {
		m.keys = append(m.keys, file)
	}
	if len(data) > limits.SettingsBytes {
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

// token searches prose or a program for a credential with a known prefix or form.
func (m *marked) token(file, text string) {
	if name, line := credential.VendorTokenIn(text); name != "" {
		m.drawn = append(m.drawn, drawn{file, name, line})
	}
}

const (
	leastKeyFile = 60
	// searched is the number of searched bytes that cost as much as one parsed byte.
	searched = 100
	fewBytes = 8 << 10 // a zero byte among the first fewBytes bytes means that a file is not text
)

// binaryNames are the extensions of files that are not text.
var binaryNames = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".svg": true, ".ico": true, ".webp": true, ".pdf": true, ".zip": true, ".gz": true, ".tgz": true,
	".woff": true, ".woff2": true, ".ttf": true, ".mp4": true, ".lock": true, ".sum": true,
}
