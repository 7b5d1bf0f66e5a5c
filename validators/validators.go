// Package validators holds the list of all rules and runs them over a repository.
package validators

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/audit"
	"github.com/fleetwright/fleetwright/validators/bootstrap"
	"github.com/fleetwright/fleetwright/validators/flux"
	"github.com/fleetwright/fleetwright/validators/helm"
	"github.com/fleetwright/fleetwright/validators/ignore"
	"github.com/fleetwright/fleetwright/validators/k0rdent"
	"github.com/fleetwright/fleetwright/validators/kommander"
	"github.com/fleetwright/fleetwright/validators/limit"
	"github.com/fleetwright/fleetwright/validators/ownership"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/schema"
	"github.com/fleetwright/fleetwright/validators/sops"
	"github.com/fleetwright/fleetwright/validators/source"
	"github.com/fleetwright/fleetwright/validators/tenant"
)

var rules = []rule.Rule{
	flux.RootUnreached,
	flux.CoverageLow,
	audit.AlertMissing,
	audit.AutomationBranch,
	audit.AutomationKey,
	audit.ClusterSize,
	audit.CreateNamespace,
	audit.DefaultNamespace,
	audit.DriftDetection,
	audit.Prune,
	audit.ReleaseRetry,
	audit.RetryInterval,
	audit.Timeout,
	bootstrap.ChartDrift,
	bootstrap.FluxDrift,
	bootstrap.HelmReleaseMissing,
	bootstrap.IdentityDrift,
	bootstrap.IntendedStale,
	bootstrap.ObjectMissing,
	bootstrap.OperatorMissing,
	bootstrap.Order,
	bootstrap.Overlay,
	bootstrap.Refused,
	bootstrap.Substitution,
	bootstrap.TemplatePath,
	bootstrap.ValuesDrift,
	bootstrap.ValuesFrom,
	bootstrap.VersionDrift,
	flux.APIDeprecated,
	flux.BuildFailed,
	flux.CRDOrder,
	flux.DependsOnCycle,
	flux.DependsOnKind,
	flux.DependsOnMissing,
	flux.DependsOnNoWait,
	flux.HealthCheckMissing,
	flux.ImageMarkerUnmatched,
	flux.KindMissing,
	flux.NamespaceMissing,
	flux.ObjectReferenceMissing,
	flux.SelectorUnmatched,
	flux.PatchTargetMissing,
	flux.PathMissing,
	flux.PathOverlap,
	flux.PodSecurity,
	flux.ReferenceMissing,
	flux.RemoteBase,
	flux.SecretMissing,
	flux.ServiceAccountMissing,
	flux.SourceMissing,
	flux.StorageNamespace,
	flux.SubstitutionUndefined,
	flux.SubstitutionUnused,
	flux.ValuesReferenceMissing,
	flux.WatchLabelMissing,
	helm.Failed,
	helm.Values,
	helm.Unused,
	ignore.Invalid,
	ignore.Unused,
	k0rdent.APIVersion,
	k0rdent.AccessVersion,
	k0rdent.ApplyOrder,
	k0rdent.ChainMissing,
	k0rdent.ClusterUnfit,
	k0rdent.CredentialMissing,
	k0rdent.ResourceTemplateMissing,
	k0rdent.PlacementEmpty,
	k0rdent.PolicyInvalid,
	k0rdent.PrerequisiteMissing,
	k0rdent.ProviderMissing,
	k0rdent.ReferenceMissing,
	k0rdent.ReleaseOrder,
	k0rdent.RemovalOrder,
	k0rdent.ServiceRefused,
	k0rdent.Singleton,
	k0rdent.SourceMissing,
	k0rdent.TemplateEdited,
	k0rdent.TemplateMissing,
	k0rdent.UpgradePath,
	k0rdent.UpgradeUnsupported,
	kommander.AppMissing,
	kommander.BindingRole,
	kommander.CatalogLabel,
	kommander.GroupMissing,
	kommander.Handover,
	kommander.NameTaken,
	kommander.NamespaceChanged,
	kommander.OverrideMissing,
	kommander.OverrideValues,
	kommander.PlacementEmpty,
	kommander.PrerequisiteMissing,
	kommander.ReleaseShared,
	kommander.RemovalOrder,
	kommander.RoleMissing,
	kommander.WorkspaceMissing,
	limit.Exceeded,
	ownership.Duplicate,
	ownership.OrphanFile,
	schema.APIRemoved,
	schema.Invalid,
	schema.Missing,
	schema.UnknownField,
	schema.Violation,
	sops.Broken,
	sops.DecryptionMissing,
	sops.GeneratorPlaintext,
	sops.Hardcoded,
	sops.NotDecrypted,
	sops.Partial,
	sops.Plaintext,
	sops.PrivateKey,
	sops.RecipientMissing,
	sops.RecipientStale,
	sops.RuleMissing,
	sops.RuleUnused,
	sops.Undecryptable,
	source.HelmRepositoryOCI,
	source.Insecure,
	source.MutableRef,
	source.Unverified,
	tenant.AdmissionBypass,
	tenant.AdmissionMissing,
	tenant.Boundary,
	tenant.ClusterAdmin,
	tenant.ClusterScoped,
	tenant.CrossNamespaceRef,
	tenant.LockdownMissing,
	tenant.NamespaceUnlabelled,
	tenant.NetworkPolicyMissing,
	tenant.ObjectRefused,
	tenant.QuotaMissing,
	tenant.RBACEscalation,
	tenant.RBACExcess,
	tenant.ServiceAccountMissing,
	tenant.SourceNotAllowed,
}

// All returns every rule, sorted by id.
func All() []rule.Rule {
	return slices.SortedFunc(slices.Values(rules), func(a, b rule.Rule) int { return cmp.Compare(a.ID, b.ID) })
}

// Select returns the rules with the IDs, sorted. An ID may end in "*", which matches any ending. Without IDs it returns
// all rules that belong to no profile. The rules of the profiles are added. It returns an error if an ID matches no rule,
// or a profile has no rules.
func Select(ids []string, profiles ...string) ([]rule.Rule, error) {
	all := All()
	chosen := map[string]bool{}
	names := Profiles()
	for _, name := range profiles {
		if !slices.Contains(names, name) {
			return nil, unknownProfile(name)
		}
	}
	for _, r := range all {
		if len(ids) == 0 && r.Profile == "" || r.Profile != "" && slices.Contains(profiles, r.Profile) {
			chosen[r.ID] = true
		}
	}
	for _, id := range ids {
		prefix, isPrefix := strings.CutSuffix(id, "*")
		before := len(chosen)
		known := false
		for _, r := range all {
			if r.ID == id || isPrefix && strings.HasPrefix(r.ID, prefix) {
				chosen[r.ID], known = true, true
			}
		}
		if len(chosen) == before && !known {
			return nil, UnknownRule(id)
		}
	}
	return slices.DeleteFunc(all, func(r rule.Rule) bool { return !chosen[r.ID] }), nil
}

// Profiles returns the sorted names of the profiles that rules belong to.
func Profiles() []string {
	var names []string
	for _, r := range All() {
		if r.Profile != "" {
			names = append(names, r.Profile)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unknownProfile returns the error for a profile that no rule belongs to.
func unknownProfile(name string) *advice.Error {
	return advice.Input(fmt.Errorf("%q is not a profile", name), "the profiles are "+strings.Join(Profiles(), ", "))
}

// UnknownRule returns the error for an ID that no rule has. Its hint is the rule with a similar ID, or else how to list all.
func UnknownRule(id string) *advice.Error {
	hint := "list the rules with \"fleetwright explain\""
	if near, ok := nearest.To(id, idsOf(All())); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return advice.Input(fmt.Errorf("%q is not a rule", id), hint)
}

func idsOf(all []rule.Rule) []string {
	ids := make([]string, 0, len(all))
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids
}

// Options are the options of a validation.
type Options = rule.Options

// Run runs rules over a repository in parallel and returns their findings, sorted and without ignored ones. The same
// repository always produces the same report. It returns an error if the context ended or a rule failed.
func Run(ctx context.Context, repo *repository.Repository, opts Options) (finding.Report, error) {
	all := All()
	if len(opts.Rules) == 0 {
		opts.Rules = slices.DeleteFunc(All(), func(r rule.Rule) bool { return r.Profile != "" })
	}
	opts.Known = idsOf(all)
	out, err := rule.Run(ctx, repo, opts)
	if err != nil {
		return finding.Report{}, err
	}
	checked := count(repo, out.Checked)
	checked.RulesOff, checked.NotJudged = countOff(all, opts.Rules), len(out.NotJudged)
	checked.Clusters, checked.Builds, checked.Objects, checked.Coverage = out.Clusters, out.Builds, out.Objects, out.Coverage
	return finding.NewReport(out.Findings, out.Unresolved, checked).WithIgnored(out.Ignored), nil
}

// countOff returns the number of rules that belong to no profile and do not run.
func countOff(all, rules []rule.Rule) int {
	running := idsOf(rules)
	n := 0
	for _, r := range all {
		if r.Profile == "" && !slices.Contains(running, r.ID) {
			n++
		}
	}
	return n
}

// count counts what a validation checks: files with objects or a kustomization, and the other files that the
// rules read.
func count(repo *repository.Repository, read []string) finding.Summary {
	s := finding.Summary{
		Kustomizations: len(repo.ByKind(fluxapi.KustomizeGroup, "Kustomization")),
		HelmReleases:   len(repo.ByKind(fluxapi.HelmGroup, "HelmRelease")),
	}
	documents := map[string]int{}
	for _, f := range repo.Files() {
		if f.Excluded || repo.Use(f.Path) == repository.Chart || f.Path == ConfigurationFile {
			continue
		}
		n := 0
		for _, d := range f.Documents {
			if len(d.Objects) > 0 || repository.IsKustomization(f.Path) {
				n++
			}
		}
		if n > 0 {
			documents[f.Path] = n
		}
	}
	for _, f := range read {
		documents[f] = max(documents[f], 1)
	}
	s.Files = len(documents)
	for _, n := range documents {
		s.Documents += n
	}
	return s
}
