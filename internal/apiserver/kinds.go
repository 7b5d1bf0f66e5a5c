package apiserver

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/api/service"
	"k8s.io/kubernetes/pkg/apis/apps"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	autoscalingvalidation "k8s.io/kubernetes/pkg/apis/autoscaling/validation"
	"k8s.io/kubernetes/pkg/apis/batch"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	"k8s.io/kubernetes/pkg/apis/rbac"
	rbacvalidation "k8s.io/kubernetes/pkg/apis/rbac/validation"
	schedulingvalidation "k8s.io/kubernetes/pkg/apis/scheduling/validation"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"
)

// kind is how the API server validates the objects of a kind.
type kind struct {
	internal      func() runtime.Object
	validate      func(runtime.Object) field.ErrorList
	clusterScoped bool
	// options are the feature gates that the generated validation reads.
	options map[string]bool
}

// of returns the kind whose internal type is T.
func of[T any, P interface {
	*T
	runtime.Object
}](validate func(P) field.ErrorList) kind {
	return kind{
		internal: func() runtime.Object { return P(new(T)) },
		validate: func(o runtime.Object) field.ErrorList {
			object, isOf := o.(P)
			if !isOf {
				return nil
			}
			return validate(object)
		},
	}
}

// global returns the kind as cluster-scoped.
func (k kind) global() kind {
	k.clusterScoped = true
	return k
}

// with returns the kind with the value of a feature gate that its generated validation reads.
func (k kind) with(gate string, on bool) kind {
	k.options = map[string]bool{gate: on}
	return k
}

// kinds are the supported kinds. Each function does what PrepareForCreate and Validate of the kind's strategy do.
// Source: k8s.io/kubernetes v1.37.0, pkg/registry/*/*/strategy.go. The strategies themselves would add 9.4 MB to the
// command, the validation alone adds 5.5 MB (docs/decisions.md).
var kinds = map[schema.GroupVersionKind]kind{
	{Group: "apps", Version: "v1", Kind: "DaemonSet"}: of(func(o *apps.DaemonSet) field.ErrorList {
		o.Spec.TemplateGeneration = max(o.Spec.TemplateGeneration, 1)
		return appsvalidation.ValidateDaemonSet(o, podOptions(&o.Spec.Template))
	}),
	{Group: "apps", Version: "v1", Kind: "Deployment"}: of(func(o *apps.Deployment) field.ErrorList {
		return appsvalidation.ValidateDeployment(o, podOptions(&o.Spec.Template))
	}),
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"}: of(func(o *apps.ReplicaSet) field.ErrorList {
		return appsvalidation.ValidateReplicaSet(o, podOptions(&o.Spec.Template))
	}),
	{Group: "apps", Version: "v1", Kind: "StatefulSet"}: of(func(o *apps.StatefulSet) field.ErrorList {
		return appsvalidation.ValidateStatefulSet(o, appsvalidation.StatefulSetValidationOptions{}, podOptions(&o.Spec.Template))
	}),
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}: of(validateAutoscaler).with("HPAScaleToZero", true),
	{Group: "batch", Version: "v1", Kind: "CronJob"}: of(func(o *batch.CronJob) field.ErrorList {
		return batchvalidation.ValidateCronJobCreate(o, podOptions(&o.Spec.JobTemplate.Spec.Template))
	}).with("WorkloadWithJob", false),
	{Group: "batch", Version: "v1", Kind: "Job"}:                  of(validateJob).with("WorkloadWithJob", false),
	{Version: "v1", Kind: "ConfigMap"}:                            of(corevalidation.ValidateConfigMap),
	{Version: "v1", Kind: "LimitRange"}:                           of(corevalidation.ValidateLimitRange),
	{Version: "v1", Kind: "Namespace"}:                            of(corevalidation.ValidateNamespace).global(),
	{Version: "v1", Kind: "PersistentVolume"}:                     of(validateVolume).global(),
	{Version: "v1", Kind: "PersistentVolumeClaim"}:                of(validateClaim),
	{Version: "v1", Kind: "Pod"}:                                  of(validatePod),
	{Version: "v1", Kind: "ResourceQuota"}:                        of(corevalidation.ValidateResourceQuota),
	{Version: "v1", Kind: "Secret"}:                               of(corevalidation.ValidateSecret),
	{Version: "v1", Kind: "Service"}:                              of(validateService),
	{Version: "v1", Kind: "ServiceAccount"}:                       of(corevalidation.ValidateServiceAccount),
	{Group: networkingGroup, Version: "v1", Kind: "Ingress"}:      of(networkingvalidation.ValidateIngressCreate),
	{Group: networkingGroup, Version: "v1", Kind: "IngressClass"}: of(networkingvalidation.ValidateIngressClass).global(),
	{Group: networkingGroup, Version: "v1", Kind: "NetworkPolicy"}: of(func(o *networking.NetworkPolicy) field.ErrorList {
		return networkingvalidation.ValidateNetworkPolicy(o, networkingvalidation.ValidationOptionsForNetworking(o, nil))
	}),
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}: of(func(o *policy.PodDisruptionBudget) field.ErrorList {
		return policyvalidation.ValidatePodDisruptionBudget(o, policyvalidation.PodDisruptionBudgetValidationOptions{})
	}),
	{Group: rbacGroup, Version: "v1", Kind: "ClusterRole"}: of(func(o *rbac.ClusterRole) field.ErrorList {
		return rbacvalidation.ValidateClusterRole(o, rbacvalidation.ClusterRoleValidationOptions{})
	}).global(),
	{Group: rbacGroup, Version: "v1", Kind: "ClusterRoleBinding"}:           of(rbacvalidation.ValidateClusterRoleBinding).global(),
	{Group: rbacGroup, Version: "v1", Kind: "Role"}:                         of(rbacvalidation.ValidateRole),
	{Group: rbacGroup, Version: "v1", Kind: "RoleBinding"}:                  of(rbacvalidation.ValidateRoleBinding),
	{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}:      of(schedulingvalidation.ValidatePriorityClass).global(),
	{Group: "storage.k8s.io", Version: "v1", Kind: "CSIDriver"}:             of(storagevalidation.ValidateCSIDriver).global(),
	{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}:          of(storagevalidation.ValidateStorageClass).global(),
	{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttributesClass"}: of(storagevalidation.ValidateVolumeAttributesClass).global(),
}

const (
	networkingGroup = "networking.k8s.io"
	rbacGroup       = "rbac.authorization.k8s.io"
)

func podOptions(template *core.PodTemplateSpec) corevalidation.PodValidationOptions {
	return pod.GetValidationOptionsFromPodTemplate(template, nil)
}

func validateAutoscaler(o *autoscaling.HorizontalPodAutoscaler) field.ErrorList {
	return autoscalingvalidation.ValidateHorizontalPodAutoscaler(o, autoscalingvalidation.HorizontalPodAutoscalerSpecValidationOptions{
		// 0 needs the feature gate HPAScaleToZero, which a cluster may have.
		MinReplicasLowerBound:          0,
		ObjectMetricsValidationOptions: autoscalingvalidation.CrossVersionObjectReferenceValidationOptions{AllowEmptyAPIGroup: true},
	})
}

// validateJob validates a Job whose selector and labels the API server generates unless they are manual.
func validateJob(o *batch.Job) field.ErrorList {
	if manual := o.Spec.ManualSelector; manual == nil || !*manual {
		o.UID = cmp.Or(o.UID, types.UID("00000000-0000-0000-0000-000000000000"))
		generateSelector(o)
	}
	return batchvalidation.ValidateJobCreate(o, batchvalidation.JobValidationOptions{
		PodValidationOptions: podOptions(&o.Spec.Template), RequirePrefixedLabels: true,
	})
}

func generateSelector(o *batch.Job) {
	labels := map[string]string{batch.LegacyJobNameLabel: o.Name, batch.JobNameLabel: o.Name,
		batch.LegacyControllerUidLabel: string(o.UID), batch.ControllerUidLabel: string(o.UID)}
	if o.Spec.Template.Labels == nil {
		o.Spec.Template.Labels = map[string]string{}
	}
	for name, value := range labels {
		o.Spec.Template.Labels[name] = value // existing values are copies of what a cluster had
	}
	o.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batch.ControllerUidLabel: string(o.UID)}}
}

func validateVolume(o *core.PersistentVolume) field.ErrorList {
	return corevalidation.ValidatePersistentVolume(o, corevalidation.ValidationOptionsForPersistentVolume(o, nil))
}

func validateClaim(o *core.PersistentVolumeClaim) field.ErrorList {
	persistentvolumeclaim.EnforceDataSourceBackwardsCompatibility(&o.Spec, nil)
	persistentvolumeclaim.NormalizeDataSources(&o.Spec)
	return corevalidation.ValidatePersistentVolumeClaim(o, corevalidation.ValidationOptionsForPersistentVolumeClaim(o, nil))
}

func validatePod(o *core.Pod) field.ErrorList {
	opts := pod.GetValidationOptionsFromPodSpecAndMeta(&o.Spec, nil, &o.ObjectMeta, nil)
	opts.ResourceIsPod = true
	return corevalidation.ValidatePodCreate(o, opts)
}

// validateService validates a Service with the addresses and ports that the API server allocates before it validates.
func validateService(o *core.Service) field.ErrorList {
	if o.Spec.ClusterIP != "" && len(o.Spec.ClusterIPs) == 0 {
		o.Spec.ClusterIPs = []string{o.Spec.ClusterIP}
	}
	if service.NeedsHealthCheck(o) && o.Spec.HealthCheckNodePort == 0 {
		o.Spec.HealthCheckNodePort = 30000
	}
	return corevalidation.ValidateServiceCreate(o)
}
