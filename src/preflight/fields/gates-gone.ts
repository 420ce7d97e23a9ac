/**
 * Removed feature gates, by the minor of 1.x that no longer knows them and does not start with a
 * config that names one. Data only; names are separated by white space. Source:
 * pkg/features/kube_features.go and staging/src/k8s.io/apiserver/pkg/features/kube_features.go of
 * 1.20 to 1.36, with component-base/logs/api/v1.
 */
export const GATES_GONE: Readonly<Record<number, string>> = {
  21: `
    AttachVolumeLimit BlockVolume CSIBlockVolume CSIDriverRegistry CSIMigrationAWSComplete CSIMigrationAzureDiskComplete
    CSIMigrationAzureFileComplete CSIMigrationGCEComplete CSIMigrationOpenStackComplete CSINodeInfo EvenPodsSpread HyperVContainer
    RotateKubeletClientCertificate TokenRequest TokenRequestProjection VolumePVCDataSource WindowsGMSA WindowsRunAsUserName
  `,
  22: `
    BalanceAttachedNodeVolumes CRIContainerLogRotation CSIMigrationvSphereComplete ExternalPolicyForExternalIP LegacyNodeRoleBehavior
    NodeDisruptionExclusion RootCAConfigMap RunAsGroup SCTPSupport ServiceAppProtocol ServiceNodeExclusion ServiceTopology
    VolumeSnapshotDataSource
  `,
  23: `
    AllowInsecureBackendProxy BoundServiceAccountTokenVolume CronJobControllerV2 NodeLease ServiceAccountIssuerDiscovery StartupProbe
    SupportNodePidsLimit SupportPodPidsLimit Sysctls
  `,
  24: `
    HugePageStorageMediumSize ImmutableEphemeralVolumes NamespaceDefaultLabelName RuntimeClass SetHostnameAsFQDN
    StreamingProxyRedirects ValidateProxyRedirects WarningHeaders csiMigrationRBD
  `,
  25: `
    CSIServiceAccountToken CSIVolumeFSGroupPolicy ConfigurableFSGroupPolicy EndpointSlice EndpointSliceNodeName EndpointSliceProxying
    GenericEphemeralVolume IPv6DualStack IngressClassNamespacedParams PodDisruptionBudget SelectorIndex StorageObjectInUseProtection
    TTLAfterFinished VolumeSubpath WindowsEndpointSliceProxying
  `,
  26: `
    CSIMigrationOpenStack CSRDuration DefaultPodTopologySpread DynamicKubeletConfig IndexedJob NonPreemptingPriority
    PodAffinityNamespaceSelector PodOverhead PreferNominatedNode ServiceLBNodePortControl ServiceLoadBalancerClass SuspendJob
  `,
  27: `
    CSIInlineVolume CSIMigration CSIMigrationAWS CSIMigrationAzureDisk ControllerManagerLeaderMigration DaemonSetUpdateSurge
    EphemeralContainers ExpandCSIVolumes ExpandInUsePersistentVolumes ExpandPersistentVolumes IdentifyPodOS
    LocalStorageCapacityIsolation NetworkPolicyEndPort StatefulSetMinReadySeconds
  `,
  28: `
    AdvancedAuditing CSIMigrationGCE CSIStorageCapacity DelegateFSGroupToCSIDriver DevicePlugins DisableAcceleratorUsageMetrics DryRun
    EndpointSliceTerminatingCondition KubeletCredentialProviders MixedProtocolLBService NetworkPolicyStatus PodHasNetworkCondition
    PodSecurity ServiceIPStaticSubrange ServiceInternalTrafficPolicy UserNamespacesStatelessPodsSupport WindowsHostProcessContainers
  `,
  29: `
    CSIMigrationvSphere CronJobTimeZone DownwardAPIHugePages GRPCContainerProbe JobMutableNodeSchedulingDirectives
    JobTrackingWithFinalizers LegacyServiceAccountTokenNoAutoGeneration MultiCIDRRangeAllocator OpenAPIV3 ProbeTerminationGracePeriod
    RetroactiveDefaultStorageClass SeccompDefault TopologyManager
  `,
  30: `
    APISelfSubjectReview CSIMigrationAzureFile ExpandedDNSConfig ExperimentalHostUserNamespaceDefaulting IPTablesOwnershipCleanup
    KubeletPodResources KubeletPodResourcesGetAllocatable LegacyServiceAccountTokenTracking MinimizeIPTablesRestore
    ProxyTerminatingEndpoints RemoveSelfLink SecurityContextDeny
  `,
  31: `
    APIPriorityAndFairness CSIMigrationRBD CSINodeExpandSecret ConsistentHTTPGetHandlers CustomResourceValidationExpressions
    DefaultHostNetworkHostPortsInPodTemplates InTreePluginAWSUnregister InTreePluginAzureDiskUnregister
    InTreePluginAzureFileUnregister InTreePluginGCEUnregister InTreePluginOpenStackUnregister InTreePluginRBDUnregister
    InTreePluginvSphereUnregister JobReadyPods ReadWriteOncePod ServiceNodePortStaticSubrange SkipReadOnlyValidationGCE
  `,
  32: `
    CloudDualStackNodeIPs DRAControlPlaneController HPAContainerMetrics KMSv2 KMSv2KDF
    LegacyServiceAccountTokenCleanUp MinDomainsInPodTopologySpread NewVolumeManagerReconstruction NodeOutOfServiceVolumeDetach
    PodHostIPs ServerSideApply ServerSideFieldValidation StableLoadBalancerNodeSet ValidatingAdmissionPolicy
    ZeroLimitedNominalConcurrencyShares
  `,
  33: `
    APIListChunking AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint AppArmor AppArmorFields CPUManager
    DisableCloudProviders DisableKubeletCloudCredentialProviders EfficientWatchResumption JobPodFailurePolicy
    KubeProxyDrainingTerminatingNodes PDBUnhealthyPodEvictionPolicy PersistentVolumeLastPhaseTransitionTime RemainingItemCount
    VolumeCapacityPriority WatchBookmark
  `,
  34: `
    DevicePluginCDIDevices ElasticIndexedJob LegacySidecarContainers PodDisruptionConditions StatefulSetStartOrdinal
  `,
  35: `
    AllowServiceLBStatusOnNonLB CronJobsScheduledAnnotation LoadBalancerIPMode PodIndexLabel ProbeHostPodSecurityStandards
    SizeMemoryBackedVolumes StatefulSetAutoDeletePVC StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks
    UserNamespacesPodSecurityStandards
  `,
  36: `
    CSIMigrationPortworx HonorPVReclaimPolicy InPlacePodVerticalScalingAllocatedStatus InTreePluginPortworxUnregister MemoryManager
    ServiceTrafficDistribution StructuredAuthorizationConfiguration TopologyAwareHints WatchFromStorageWithoutResourceVersion
  `,
}
