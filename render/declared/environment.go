package declared

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/advice"
)

// sopsPrefix is the prefix of the environment variables that hold the private keys of the user.
const sopsPrefix = "SOPS_"

// credentials are prefixes of environment variables in which CI systems, clouds and their tools keep their own
// credentials.
var credentials = []string{
	"ACTIONS_", "GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "CI_", "GITLAB_TOKEN", "BITBUCKET_", "BUILDKITE_", "CIRCLE_", "DRONE_", "SYSTEM_ACCESSTOKEN",
	"AWS_", "AZURE_", "ARM_", "GOOGLE_", "CLOUDSDK_", "VAULT_", "KUBECONFIG", "DOCKER_AUTH_CONFIG", "COSIGN_", "NPM_TOKEN", "SSH_",
}

// variable returns the value of an environment variable that the specification names. The author of the
// specification, and those who can decrypt the Secret, may not be trusted. SOPS' keys are therefore read only
// if the user allows it. In CI, where a pull request may run, this also holds for the credentials of the CI
// system and of clouds.
func (s *syncer) variable(name string) (string, error) {
	if !slices.Contains(s.options.Variables, name) {
		upper := strings.ToUpper(name) // names of variables on Windows are case-insensitive
		own := strings.HasPrefix(upper, sopsPrefix)
		if own || s.inCI() && slices.ContainsFunc(credentials, func(of string) bool { return strings.HasPrefix(upper, of) }) {
			return "", advice.Input(
				fmt.Errorf("refused to read the environment variable %s, for which the specification asks: it usually contains your own credentials or those of CI", name),
				fmt.Sprintf("check who wrote the specification, and who could decrypt the value; then allow it with --allow-env %s, or set the value in another variable", name),
			)
		}
	}
	text := s.options.Env(name)
	if text == "" {
		return "", advice.Input(fmt.Errorf("the environment variable %s is not set or empty", name), "set it for this run")
	}
	return text, nil
}

// inCI reports whether a CI system runs the command: all known ones set CI, TF_BUILD (Azure Pipelines) or
// JENKINS_URL.
func (s *syncer) inCI() bool {
	ci := strings.ToLower(s.options.Env("CI"))
	return ci != "" && ci != "false" && ci != "0" || s.options.Env("TF_BUILD") != "" || s.options.Env("JENKINS_URL") != ""
}
