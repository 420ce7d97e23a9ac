/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/plugin/commands/upgrade-check.test.ts > TAP > each config for each kubelet that uses it, from one list of nodes > must match snapshot 1`] = `
kube-system/spelled:kubelet on 1 node with kubelet 1.36.3
kube-system/spelled:kubelet:3:1: warning: memoryThrottlingFactor changes its meaning: to kubelet 1.36: no pod is throttled, since the feature gate MemoryQoS is off; to kubelet 1.37: 0.9: on cgroup v2, pods that are not Guaranteed are throttled near their memory limit [meaning/value]
   3 | memoryThrottlingFactor: 0.9
     | ^~~~~~~~~~~~~~~~~~~~~~
     = remove it if no pod should be throttled

kube-system/spelled:kubelet:4:1: warning: unknown field maxPod: kubelet ignores it [fields/unknown-key]
   4 | maxPod: 5
     | ^~~~~~
     = did you mean maxPods?

kube-system/spelled:kubelet: note: featureGates: not set, by default off in kubelet 1.36 and on in kubelet 1.37: AllowUnsafeMalformedObjectDeletion, ClusterTrustBundle, ClusterTrustBundleProjection, ConcurrentWatchObjectDecode, DRADeviceTaintRules, EtcdRangeStream (new), ExcludeAdmissionWebhookVirtualResources (new), HPAGeneration (new), HPAOptimizedSelectorStore (new), HPAScaleToZero, HugepageAwareEviction (new), KubeletInUserNamespace, ManifestBasedAdmissionControlConfig, MaxUnavailableStatefulSet, MemoryQoS, NFTablesNetlink (new), NativeHistograms, NodeControllerLeaseCircuitBreaker (new), PersistentVolumeClaimUnusedSinceTime, PodCertificateRequest, PodLevelResourcesFixDefaulting (new), PodLevelResourcesFixKubeletQOSClass (new), PodsAPI, SELinuxMount, StaleControllerConsistencyHPA (new), StorageCapacityScoring, StorageVersionMigrator, VolumeLimitScaling, WatchListCompression (new), WebhookRoundTripLoadBalancing (new) [meaning/gate]
     = some are of other components; set those that should stay as they are, as long as kubelet lets them be set

accepted by the rules of kubelet 1.37.0

kube-system/spelled:kubelet on 1 node with kubelet 1.37.2
kube-system/spelled:kubelet:4:1: warning: unknown field maxPod: kubelet ignores it [fields/unknown-key]
   4 | maxPod: 5
     | ^~~~~~
     = did you mean maxPods?

accepted by the rules of kubelet 1.37.0

kube-system/part:kubelet on 1 node with kubelet 1.36.4
kube-system/part:kubelet: warning: eventRecordQPS changes its meaning: to kubelet 1.36: 0: at most 5 events a second; to kubelet 1.37: 0: no limit [meaning/value]
     = write 5 to keep the limit

accepted by the rules of kubelet 1.37.0

To 1 node no ConfigMap is assigned, and the local config is known there alone: kubelet-cfg-agent preflight-upgrade checks it there.

`
