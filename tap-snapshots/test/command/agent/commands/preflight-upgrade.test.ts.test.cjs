/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/agent/commands/preflight-upgrade.test.ts > TAP > what a version refuses, ignores, and where the node would fall back to > must match snapshot 1`] = `
kube-system/my-node-config:kubelet@212 (assigned, active)
kube-system/my-node-config:kubelet@212:5:3: error: featureGates.CPUManager: unrecognized feature gate: CPUManager [fields/gate-gone]
   5 |   CPUManager: true
     |   ^~~~~~~~~~
     = kubelet 1.33 removed this gate: remove it

kube-system/my-node-config:kubelet@212: note: failCgroupV1 is not set, and its default changes: to kubelet 1.34: false (default); to kubelet 1.36: true (default) [meaning/default]
     = write failCgroupV1: false to keep it

kube-system/my-node-config:kubelet@212: note: featureGates: not set, by default off in kubelet 1.34 and on in kubelet 1.36: AtomicFIFO (new), AuthorizePodWebsocketUpgradeCreatePermission (new), CRDObservedGenerationTracking (new), CSIServiceAccountTokenSecrets (new), ClearingNominatedNodeNameAfterBinding, ClientsAllowCARotation (new), ClientsAllowTLSCacheGC (new), ComponentFlagz, ComponentStatusz, ConstrainedImpersonation (new), ContainerRestartRules, CustomCPUCFSQuotaPeriod, DRAConsumableCapacity, DRADeviceBindingConditions, DRADeviceTaints, DRAExtendedResource, DRAPartitionableDevices, DRAResourceClaimGranularStatusAuthorization (new), DeclarativeValidationBeta (new), DeploymentReplicaSetTerminatingReplicas, EnvFiles, ExtendWebSocketsToKubelet (new), HPAConfigurableTolerance, HostnameOverride, ImageVolume, InOrderInformersBatchProcess (new), InPlacePodLevelResourcesVerticalScaling (new), InPlacePodVerticalScalingInitContainers (new), InformerResourceVersion, KubeletCrashLoopBackOffMax, KubeletEnsureSecretPulledImages, MutableCSINodeAllocatableCount, MutablePodResourcesForSuspendedJobs (new), MutableSchedulingDirectivesForSuspendedJobs (new), MutatingAdmissionPolicy, NodeDeclaredFeatures (new), NodeLogQuery, NominatedNodeNameForExpectation, OpportunisticBatching (new), PLEGOnDemandRelist (new), PodTopologyLabelsAdmission, RelaxedServiceNameValidation, ReloadKubeletClientCAFile (new), ResourceHealthStatus, ResourceHealthStatusMessage (new), RestartAllContainersOnContainerExits (new), StaleControllerConsistencyDaemonSet (new), StaleControllerConsistencyJob (new), StaleControllerConsistencyReplicaSet (new), StaleControllerConsistencyStatefulSet (new), StrictIPCIDRValidation, StructuredAuthenticationConfigurationJWKSMetrics (new), UnknownVersionInteroperabilityProxy, UnlockWhileProcessingFIFO (new), WatchCacheInitializationPostStartHook, WatchListClient [meaning/gate]
     = some are of other components; set those that should stay as they are, as long as kubelet lets them be set

kube-system/my-node-config:kubelet@212: note: imagePullCredentialsVerificationPolicy is not set, and its default changes: to kubelet 1.34: not set; to kubelet 1.36: "NeverVerifyPreloadedImages" (default) [meaning/default]

fields   refused      2 fields checked against the rules of kubelet 1.36.0
meaning  accepted     compared with what it means to kubelet 1.34.1
kubelet  not checked  no kubelet 1.36.0 is available
kube-system/my-node-config:kubelet@212: refused: 1 error, 3 notes

kube-system/my-node-config:kubelet@150 (last-known-good)
kube-system/my-node-config:kubelet@150:4:1: warning: unknown field maxPod: kubelet ignores it [fields/unknown-key]
   4 | maxPod: 3
     | ^~~~~~
     = did you mean maxPods?

kube-system/my-node-config:kubelet@150: note: failCgroupV1 is not set, and its default changes: to kubelet 1.34: false (default); to kubelet 1.36: true (default) [meaning/default]
     = write failCgroupV1: false to keep it

kube-system/my-node-config:kubelet@150: note: imagePullCredentialsVerificationPolicy is not set, and its default changes: to kubelet 1.34: not set; to kubelet 1.36: "NeverVerifyPreloadedImages" (default) [meaning/default]

fields   accepted     2 fields checked against the rules of kubelet 1.36.0
meaning  accepted     compared with what it means to kubelet 1.34.1
kubelet  not checked  no kubelet 1.36.0 is available
kube-system/my-node-config:kubelet@150: accepted, not checked by kubelet: 1 warning, 2 notes

/var/lib/kubelet/config.yaml (previous, local)
/var/lib/kubelet/config.yaml: note: failCgroupV1 is not set, and its default changes: to kubelet 1.34: false (default); to kubelet 1.36: true (default) [meaning/default]
     = write failCgroupV1: false to keep it

/var/lib/kubelet/config.yaml: note: imagePullCredentialsVerificationPolicy is not set, and its default changes: to kubelet 1.34: not set; to kubelet 1.36: "NeverVerifyPreloadedImages" (default) [meaning/default]

fields   accepted     1 field checked against the rules of kubelet 1.36.0
meaning  accepted     compared with what it means to kubelet 1.34.1
kubelet  not checked  no kubelet 1.36.0 is available
/var/lib/kubelet/config.yaml: accepted, not checked by kubelet: 2 notes

This kubelet refuses kube-system/my-node-config:kubelet@212.
The agent would fall back to kube-system/my-node-config:kubelet@150.

`
