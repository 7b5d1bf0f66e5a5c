package templates

import (
	"errors"
	"github.com/fleetwright/fleetwright/internal/located"
	"regexp"
	"strconv"
	"strings"
)

var templateLine = regexp.MustCompile(`template: [^:]*:(\d+)`)

// LineOf is the line of the template that an error is about, 1
// where it names none.
func LineOf(err error) int {
	if m := templateLine.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return n
		}
	}
	return 1
}

// helmfilesNames are helmfile's names of the types that templates see here.
var helmfilesNames = strings.NewReplacer("templates.StateData", "*state.EnvironmentTemplateData",
	"templates.ReleaseData", "state.releaseTemplateData", "templates.ReleaseInfo", "state.releaseTemplateDataRelease",
	"templates.EnvironmentData", "environment.Environment")

// Reason is the reason for which a template fails, in helmfile's words, without secrets.
func Reason(err error) string {
	// What exceeds a bound of this evaluation is clearer without where it did.
	var limit Exceeded
	if errors.As(err, &limit) {
		return limit.Error()
	}
	return located.Shorten(withoutSecrets(helmfilesNames.Replace(err.Error())))
}

// Exceeded is an error about a bound of this evaluation, which the real tool may not have.
type Exceeded string

func (e Exceeded) Error() string { return string(e) }

// ErrUndecided is about a condition on what cannot be known here: helmfile may
// well accept the template.
var ErrUndecided = errors.New("a condition depends on what cannot be known")

// IsUndecided reports whether an error only says that the result of a template cannot be known.
func IsUndecided(err error) bool {
	var unknown *UnknownError
	var limit Exceeded
	return errors.As(err, &unknown) || errors.Is(err, ErrUndecided) || errors.As(err, &limit)
}

// UnknownError is about a command whose output cannot be computed.
type UnknownError struct{ Mark located.Unknown }

func (e *UnknownError) Error() string { return e.Mark.Reason }

// TemplateFails begins the reason of a verdict that is unresolved since a template of the release's
// fails; what helmfile says follows.
const TemplateFails = "the template fails: "
