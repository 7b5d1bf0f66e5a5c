package bootstrap

// Rules about differences.
const (
	RuleVersionDrift       = "bootstrap-version-drift"
	RuleChartDrift         = "bootstrap-chart-drift"
	RuleValuesDrift        = "bootstrap-values-drift"
	RuleIdentityDrift      = "bootstrap-identity-drift"
	RuleHelmReleaseMissing = "bootstrap-helmrelease-missing"
)

// Rules about differences of values with a known cause.
const (
	RuleSubstitution = "bootstrap-substitution"
	RuleValuesFrom   = "bootstrap-values-from"
	RuleOverlay      = "bootstrap-overlay"
	RuleTemplatePath = "bootstrap-template-path"
)

// RuleFluxDrift is about a bootstrap that installs another Flux than Git says.
const RuleFluxDrift = "bootstrap-flux-drift"

// RuleIntendedStale is about a declared difference that does not exist.
const RuleIntendedStale = "bootstrap-intended-stale"

// RuleRefused is about a bootstrap that its tool refuses.
const RuleRefused = "bootstrap-refused"

// RuleOrder is about the order in which a bootstrap installs its releases.
const RuleOrder = "bootstrap-order"

// RuleOperatorMissing is about a bootstrap that creates a FluxInstance without the operator.
const RuleOperatorMissing = "bootstrap-operator-missing"

// RuleObjectMissing is about objects that hooks of a bootstrap apply and that Flux does not.
const RuleObjectMissing = "bootstrap-object-missing"
