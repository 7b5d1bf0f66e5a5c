package v1alpha1

// ReleaseInstall contains fields of spec.install of a HelmRelease (helm.toolkit.fluxcd.io/v2).
type ReleaseInstall struct {
	// Timeout of the action; the release's by default.
	Timeout Duration `json:"timeout,omitempty"`
	// Strategy after a failure: to retry in place, or to remediate.
	Strategy *ReleaseStrategy `json:"strategy,omitempty"`
	// Remediation uninstalls a release that failed, and retries. It replaces the generated strategy.
	Remediation *InstallRemediation `json:"remediation,omitempty"`
	// DisableTakeOwnership refuses objects that another release or tool created.
	DisableTakeOwnership *bool `json:"disableTakeOwnership,omitempty"`
	// DisableWait does not wait until the objects are ready.
	DisableWait *bool `json:"disableWait,omitempty"`
	// DisableWaitForJobs does not wait until jobs are complete.
	DisableWaitForJobs *bool `json:"disableWaitForJobs,omitempty"`
	// DisableHooks leaves the chart's hooks out.
	DisableHooks *bool `json:"disableHooks,omitempty"`
	// DisableOpenAPIValidation does not validate the objects against the API server's OpenAPI schema.
	DisableOpenAPIValidation *bool `json:"disableOpenAPIValidation,omitempty"`
	// DisableSchemaValidation does not validate the values against the chart's schema.
	DisableSchemaValidation *bool `json:"disableSchemaValidation,omitempty"`
	// CRDs of the chart's folder crds.
	CRDs string `json:"crds,omitempty" jsonschema:"enum=Skip,enum=Create,enum=CreateReplace"`
}

// ReleaseUpgrade contains fields of spec.upgrade of a HelmRelease (helm.toolkit.fluxcd.io/v2).
type ReleaseUpgrade struct {
	// Timeout of the action; the release's by default.
	Timeout Duration `json:"timeout,omitempty"`
	// Strategy after a failure: to retry in place, or to remediate.
	Strategy *ReleaseStrategy `json:"strategy,omitempty"`
	// Remediation rolls a release back that failed, and retries. It replaces the generated strategy.
	Remediation *UpgradeRemediation `json:"remediation,omitempty"`
	// DisableTakeOwnership refuses objects that another release or tool created.
	DisableTakeOwnership *bool `json:"disableTakeOwnership,omitempty"`
	// DisableWait does not wait until the objects are ready.
	DisableWait *bool `json:"disableWait,omitempty"`
	// DisableWaitForJobs does not wait until jobs are complete.
	DisableWaitForJobs *bool `json:"disableWaitForJobs,omitempty"`
	// DisableHooks leaves the chart's hooks out.
	DisableHooks *bool `json:"disableHooks,omitempty"`
	// DisableOpenAPIValidation does not validate the objects against the API server's OpenAPI schema.
	DisableOpenAPIValidation *bool `json:"disableOpenAPIValidation,omitempty"`
	// DisableSchemaValidation does not validate the values against the chart's schema.
	DisableSchemaValidation *bool `json:"disableSchemaValidation,omitempty"`
	// CRDs of the chart's folder crds.
	CRDs string `json:"crds,omitempty" jsonschema:"enum=Skip,enum=Create,enum=CreateReplace"`
	// Force deletes and creates objects that cannot be changed.
	Force *bool `json:"force,omitempty"`
	// PreserveValues merges the values over those of the last release.
	PreserveValues *bool `json:"preserveValues,omitempty"`
	// CleanupOnFail deletes objects that a failed upgrade created.
	CleanupOnFail *bool `json:"cleanupOnFail,omitempty"`
}

// ReleaseStrategy says what helm-controller does after a failed action.
type ReleaseStrategy struct {
	// Name of the strategy.
	Name string `json:"name" jsonschema:"required,enum=RemediateOnFailure,enum=RetryOnFailure"`
	// RetryInterval of RetryOnFailure.
	RetryInterval Duration `json:"retryInterval,omitempty"`
}

// InstallRemediation says what helm-controller does after a failed installation.
type InstallRemediation struct {
	// Retries after a failure; -1 for no limit.
	Retries int `json:"retries,omitempty" jsonschema:"minimum=-1,maximum=1000"`
	// IgnoreTestFailures does not count failed tests as a failure.
	IgnoreTestFailures *bool `json:"ignoreTestFailures,omitempty"`
	// RemediateLastFailure also remediates the last failure.
	RemediateLastFailure *bool `json:"remediateLastFailure,omitempty"`
}

// UpgradeRemediation says what helm-controller does after a failed upgrade.
type UpgradeRemediation struct {
	// Retries after a failure; -1 for no limit.
	Retries int `json:"retries,omitempty" jsonschema:"minimum=-1,maximum=1000"`
	// IgnoreTestFailures does not count failed tests as a failure.
	IgnoreTestFailures *bool `json:"ignoreTestFailures,omitempty"`
	// RemediateLastFailure also remediates the last failure.
	RemediateLastFailure *bool `json:"remediateLastFailure,omitempty"`
	// Strategy of the remediation.
	Strategy string `json:"strategy,omitempty" jsonschema:"enum=rollback,enum=uninstall"`
}

// DriftDetection compares a release with the objects in the cluster (HelmRelease spec.driftDetection).
type DriftDetection struct {
	// Mode corrects differences (enabled), reports them (warn), or does not look for them (disabled).
	Mode string `json:"mode" jsonschema:"required,enum=enabled,enum=warn,enum=disabled"`
	// Ignore names fields that others change on purpose.
	Ignore []DriftIgnore `json:"ignore,omitempty"`
}

// DriftIgnore leaves fields of some objects out of the comparison.
type DriftIgnore struct {
	// Paths are JSON pointers to the fields.
	Paths []string `json:"paths" jsonschema:"required,minItems=1,pattern=^/,example=/spec/replicas"`
	// Target selects the objects; all by default.
	Target *DriftTarget `json:"target,omitempty"`
}

// DriftTarget selects objects of a release, as the target of a kustomize patch does.
type DriftTarget struct {
	// Group of the objects.
	Group string `json:"group,omitempty" jsonschema:"example=apps"`
	// Version of the objects.
	Version string `json:"version,omitempty" jsonschema:"example=v1"`
	// Kind of the objects.
	Kind string `json:"kind,omitempty" jsonschema:"example=Deployment"`
	// Name of the objects, a regular expression.
	Name string `json:"name,omitempty" jsonschema:"example=web"`
	// Namespace of the objects, a regular expression.
	Namespace string `json:"namespace,omitempty" jsonschema:"example=web"`
	// AnnotationSelector selects the objects by annotations.
	AnnotationSelector string `json:"annotationSelector,omitempty" jsonschema:"example=scaled=true"`
	// LabelSelector selects the objects by labels.
	LabelSelector string `json:"labelSelector,omitempty" jsonschema:"example=scaled=true"`
}

// Sharding divides the reconciliation among several sets of controllers. The label of an Addon or a Tenant with the
// sharding key is set on its Flux objects.
type Sharding struct {
	// Key of the label whose value is the name of the object's shard.
	Key string `json:"key,omitempty" jsonschema:"minLength=1,default=sharding.fluxcd.io/key"`
	// Shards are the values of the label. Objects without the label are the main controllers'.
	Shards []string `json:"shards" jsonschema:"required,minItems=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=shard1"`
}

// AddonOverride changes the values of an add-on or the version of its chart on some clusters.
type AddonOverride struct {
	// Clusters that the override changes.
	Clusters ClusterSelector `json:"clusters" jsonschema:"required"`
	// Values merged over the add-on's: maps merge, lists replace, null deletes.
	Values map[string]any `json:"values,omitempty"`
	// Chart of the add-on on these clusters.
	Chart *ChartOverride `json:"chart,omitempty"`
}

// ChartOverride is another version of a chart.
type ChartOverride struct {
	// Version of the chart, exact.
	Version string `json:"version" jsonschema:"required,minLength=1,example=1.2.3,pattern=^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$"`
}

// ResourceFile is a file of plain Kubernetes objects.
type ResourceFile struct {
	// Name of the file, without its ending.
	Name string `json:"name" jsonschema:"required,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// Manifests are the file's objects.
	Manifests []map[string]any `json:"manifests" jsonschema:"required,minItems=1"`
}
