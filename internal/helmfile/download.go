package helmfile

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// chartFolder returns the folder of a chart in a folder of the repository, "" if no such chart is there.
func (r *reader) chartFolder(dir string, chart located.Text) string {
	folder := path.Join(dir, chart.Value)
	if chart.Unknown != nil || chart.Value == "" || strings.Contains(chart.Value, "://") || !r.repo.Exists(path.Join(folder, "Chart.yaml")) {
		return ""
	}
	return folder
}

// download records the options that helmfile passes to Helm with the name of a chart.
func (e *evaluation) download(r *Release) {
	says := func(option string) bool {
		if t, set := e.raw.fields[option]; set {
			return isTrue(t.Value)
		}
		defaults := e.h.helmDefaults[option]
		return len(defaults) > 0 && isTrue(defaults[0])
	}
	r.devel, r.plainHTTP = says("devel"), says("plainHttp")
	chart := r.Chart.Value
	prefix, _, deep := strings.Cut(chart, "/")
	for _, repo := range e.h.repositories {
		if repo.name.Value == prefix {
			r.plainHTTP = r.plainHTTP || repo.plainHTTP
			return
		}
	}
	at := path.Join(e.h.dir, chart)
	r.local = !strings.Contains(chart, "://") && (!deep || strings.HasPrefix(chart, "./") || strings.HasPrefix(chart, "../") || path.IsAbs(chart) ||
		strings.Count(chart, "/") > 2 || e.HasFolder(at) || e.Files.Exists(at))
}

// Request returns the request by which Helm gets the chart from the network, nil if the chart is local or the release is not
// installed. The error is the reason why it cannot be fetched.
func (r *Release) Request() (*chartref.Ask, error) {
	if r.Unreadable != "" || r.Skipped != nil || r.local || r.Chart.Unknown == nil && r.Chart.Value == "" {
		return nil, nil
	}
	for _, t := range []located.Text{r.Chart, r.Version, r.source} {
		switch {
		case t.Unknown != nil:
			return nil, errors.New(t.Unknown.Reason)
		case strings.Contains(t.Value, templates.MarkOpen):
			return nil, errors.New("its chart or version depends on values that are not in the repository")
		}
	}
	request := chartref.HelmRequest{Repository: r.source.Value, Chart: r.Chart.Value, Version: r.Version.Value, Devel: r.devel, Insecure: r.plainHTTP}
	switch prefix, name, deep := strings.Cut(r.Chart.Value, "/"); {
	case strings.HasPrefix(r.Chart.Value, chartref.Scheme):
		at := strings.LastIndexByte(r.Chart.Value, '/')
		request.Repository, request.Chart = r.Chart.Value[:at], r.Chart.Value[at+1:]
	case strings.Contains(r.Chart.Value, "://"), strings.Contains(r.Chart.Value, "::"):
		return nil, errors.New("the chart is an address and not in a chart repository")
	case r.Definition != InHelmfile:
	case request.Repository == "":
		return nil, fmt.Errorf("the helmfile has no repository %q", prefix)
	case deep:
		request.Chart = name
	}
	if r.source.Value == "" && r.Definition != InHelmfile && !strings.HasPrefix(r.Chart.Value, chartref.Scheme) {
		return nil, errors.New("it names no chart repository")
	}
	ask, err := chartref.FromHelm(request)
	if err != nil {
		return nil, err
	}
	return &ask, nil
}
