package images

import (
	"maps"
	"slices"
)

// kind contains the paths of the image fields in the objects of a kind; "*" means each item.
type kind struct {
	// pods are paths of pod specifications, and containers paths of single containers.
	pods, containers []string
	// images are paths of image references. If an object has none of them, an operator chooses the image.
	images []string
	// chosen is set if an operator chooses all images.
	chosen bool
}

// template is the path of the pod specification in a workload.
const template = "spec.template.spec"

// kinds are the kinds that run pods, by group and kind. A custom resource is among them if its
// definition says that pods run with these images whenever the object exists; docs/images.md lists them.
var kinds = map[string]kind{
	"/Pod":                   {pods: []string{"spec"}},
	"/ReplicationController": {pods: []string{template}},
	"apps/Deployment":        {pods: []string{template}},
	"apps/StatefulSet":       {pods: []string{template}},
	"apps/DaemonSet":         {pods: []string{template}},
	"apps/ReplicaSet":        {pods: []string{template}},
	"batch/Job":              {pods: []string{template}},
	"batch/CronJob":          {pods: []string{"spec.jobTemplate.spec.template.spec"}},

	"apps.kruise.io/CloneSet":                  {pods: []string{template}},
	"apps.kruise.io/DaemonSet":                 {pods: []string{template}},
	"apps.kruise.io/StatefulSet":               {pods: []string{template}},
	"argoproj.io/Rollout":                      {pods: []string{template}},
	"batch.volcano.sh/Job":                     {pods: []string{"spec.tasks.*.template.spec"}},
	"jobset.x-k8s.io/JobSet":                   {pods: []string{"spec.replicatedJobs.*.template.spec.template.spec"}},
	"keda.sh/ScaledJob":                        {pods: []string{"spec.jobTargetRef.template.spec"}},
	"leaderworkerset.x-k8s.io/LeaderWorkerSet": {pods: []string{"spec.leaderWorkerTemplate.leaderTemplate.spec", "spec.leaderWorkerTemplate.workerTemplate.spec"}},
	"serving.knative.dev/Configuration":        {pods: []string{template}},
	"serving.knative.dev/Service":              {pods: []string{template}},

	"monitoring.coreos.com/Alertmanager":    ofPrometheus,
	"monitoring.coreos.com/Prometheus":      ofPrometheus,
	"monitoring.coreos.com/PrometheusAgent": ofPrometheus,
	"monitoring.coreos.com/ThanosRuler":     ofPrometheus,
	"postgresql.cnpg.io/Cluster":            {images: []string{"spec.imageName"}},
	"fluxcd.controlplane.io/FluxInstance":   {chosen: true},
}

// ofPrometheus has the image fields of the Prometheus operator's kinds.
var ofPrometheus = kind{images: []string{"spec.image"}, containers: []string{"spec.initContainers.*", "spec.containers.*"}}

func sortedKeys(of map[string]any) []string { return slices.Sorted(maps.Keys(of)) }
