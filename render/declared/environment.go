package declared

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/render"
)

// sopsPrefix is that of the variables that hold the private keys of whoever runs the command.
const sopsPrefix = "SOPS_"

// credentials are how the names of variables begin that CI systems, clouds and their tools keep
// credentials in for themselves.
var credentials = []string{
	"ACTIONS_", "GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "CI_", "GITLAB_TOKEN", "BITBUCKET_", "BUILDKITE_", "CIRCLE_", "DRONE_", "SYSTEM_ACCESSTOKEN",
	"AWS_", "AZURE_", "ARM_", "GOOGLE_", "CLOUDSDK_", "VAULT_", "KUBECONFIG", "DOCKER_AUTH_CONFIG", "COSIGN_", "NPM_TOKEN", "SSH_",
}

// variable is the value of a variable that the specification asks for. The specification may be a
// stranger's, and so may those who can decrypt the Secret: SOPS' keys are read where the user allows
// it, and in CI, where a pull request may run, so are the credentials of the CI system and of clouds.
func (s *syncer) variable(name string) (string, error) {
	if !slices.Contains(s.options.Variables, name) {
		upper := strings.ToUpper(name) // Windows knows no case
		own := strings.HasPrefix(upper, sopsPrefix)
		if own || s.inCI() && slices.ContainsFunc(credentials, func(of string) bool { return strings.HasPrefix(upper, of) }) {
			return "", &render.BadInput{
				Err:  fmt.Errorf("the specification asks for the environment variable %s, in which credentials of your own or of CI are kept: it is not read", name),
				Hint: fmt.Sprintf("look at who wrote that, and who could decrypt it; then allow it with --allow-env %s, or give the value under another name", name),
			}
		}
	}
	text := s.options.Env(name)
	if text == "" {
		return "", &render.BadInput{Err: fmt.Errorf("the environment variable %s is not set, or empty", name), Hint: "set it for this run"}
	}
	return text, nil
}

// inCI says whether a CI system runs the command: all that are known set CI, or TF_BUILD (Azure
// Pipelines) or JENKINS_URL.
func (s *syncer) inCI() bool {
	ci := strings.ToLower(s.options.Env("CI"))
	return ci != "" && ci != "false" && ci != "0" || s.options.Env("TF_BUILD") != "" || s.options.Env("JENKINS_URL") != ""
}
