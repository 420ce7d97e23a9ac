/**
 * Known feature gates, with the minors of 1.x that know them. Data only; names are separated by
 * white space. Sources: the names that a kubelet 1.20.2 accepts;
 * `defaultVersionedKubernetesFeatureGates`, pkg/features, for newer ones.
 */

/** All gates of kubelet 1.20, except AllAlpha and AllBeta. */
export const GATES_OF_OLDEST: string = `
    APIListChunking APIPriorityAndFairness APIResponseCompression APIServerIdentity AdvancedAuditing AllowInsecureBackendProxy
    AnyVolumeDataSource AppArmor AttachVolumeLimit BalanceAttachedNodeVolumes BlockVolume BoundServiceAccountTokenVolume CPUManager
    CRIContainerLogRotation CSIBlockVolume CSIDriverRegistry CSIInlineVolume CSIMigration CSIMigrationAWS CSIMigrationAWSComplete
    CSIMigrationAzureDisk CSIMigrationAzureDiskComplete CSIMigrationAzureFile CSIMigrationAzureFileComplete CSIMigrationGCE
    CSIMigrationGCEComplete CSIMigrationOpenStack CSIMigrationOpenStackComplete CSIMigrationvSphere CSIMigrationvSphereComplete
    CSINodeInfo CSIServiceAccountToken CSIStorageCapacity CSIVolumeFSGroupPolicy ConfigurableFSGroupPolicy CronJobControllerV2
    CustomCPUCFSQuotaPeriod DefaultPodTopologySpread DevicePlugins DisableAcceleratorUsageMetrics DownwardAPIHugePages DryRun
    DynamicKubeletConfig EfficientWatchResumption EndpointSlice EndpointSliceNodeName EndpointSliceProxying
    EndpointSliceTerminatingCondition EphemeralContainers EvenPodsSpread ExecProbeTimeout ExpandCSIVolumes
    ExpandInUsePersistentVolumes ExpandPersistentVolumes ExperimentalHostUserNamespaceDefaulting ExternalPolicyForExternalIP
    GenericEphemeralVolume GracefulNodeShutdown HPAContainerMetrics HPAScaleToZero HugePageStorageMediumSize HyperVContainer
    IPv6DualStack ImmutableEphemeralVolumes KubeletCredentialProviders KubeletPodResources LegacyNodeRoleBehavior
    LocalStorageCapacityIsolation LocalStorageCapacityIsolationFSQuotaMonitoring MixedProtocolLBService NodeDisruptionExclusion
    NodeLease NonPreemptingPriority PodDisruptionBudget PodOverhead ProcMountType QOSReserved RemainingItemCount RemoveSelfLink
    RootCAConfigMap RotateKubeletClientCertificate RotateKubeletServerCertificate RunAsGroup RuntimeClass SCTPSupport SelectorIndex
    ServerSideApply ServiceAccountIssuerDiscovery ServiceAppProtocol ServiceLBNodePortControl ServiceNodeExclusion ServiceTopology
    SetHostnameAsFQDN SizeMemoryBackedVolumes StartupProbe StorageObjectInUseProtection StorageVersionAPI StorageVersionHash
    StreamingProxyRedirects SupportNodePidsLimit SupportPodPidsLimit Sysctls TTLAfterFinished TokenRequest TokenRequestProjection
    TopologyManager ValidateProxyRedirects VolumePVCDataSource VolumeSnapshotDataSource VolumeSubpath WarningHeaders WatchBookmark
    WinDSR WinOverlay WindowsEndpointSliceProxying WindowsGMSA WindowsRunAsUserName
  `

/** By the minor of 1.x that added them as alpha: no older kubelet knows them. */
export const GATES_SINCE: Readonly<Record<number, string>> = {
  21: 'CSIVolumeHealth LogarithmicScaleDown MemoryManager PodDeletionCost TopologyAwareHints VolumeCapacityPriority',
  22: 'APIServerTracing CPUManagerPolicyOptions DisableCloudProviders KubeletInUserNamespace MemoryQoS NodeSwap',
  23: `
    CPUManagerPolicyAlphaOptions CSIMigrationPortworx DisableKubeletCloudCredentialProviders GracefulNodeShutdownBasedOnPodPriority
    HonorPVReclaimPolicy InTreePluginPortworxUnregister OpenAPIEnums PodAndContainerStatsFromCRI RecoverVolumeExpansionFailure
    StatefulSetAutoDeletePVC
  `,
  24: 'MaxUnavailableStatefulSet',
  25: `
    ContainerCheckpoint JobPodFailurePolicy KubeletTracing MatchLabelKeysInPodTopologySpread NodeInclusionPolicyInPodTopologySpread
    PodDisruptionConditions SELinuxMountReadWriteOncePod UserNamespacesSupport
  `,
  26: `
    AggregatedDiscoveryEndpoint CrossNamespaceVolumeDataSource DynamicResourceAllocation EventedPLEG PDBUnhealthyPodEvictionPolicy
    PodSchedulingReadiness StatefulSetStartOrdinal TopologyManagerPolicyAlphaOptions TopologyManagerPolicyOptions
  `,
  27: `
    AdmissionWebhookMatchConditions CloudControllerManagerWebhook ClusterTrustBundle InPlacePodVerticalScaling
    KubeletPodResourcesDynamicResources KubeletPodResourcesGet MultiCIDRServiceAllocator NodeLogQuery WatchList
  `,
  28: `
    CRDValidationRatcheting ConsistentListFromCache DevicePluginCDIDevices JobBackoffLimitPerIndex JobPodReplacementPolicy
    KubeProxyDrainingTerminatingNodes KubeletCgroupDriverFromCRI PersistentVolumeLastPhaseTransitionTime PodHostIPs
    PodReadyToStartContainersCondition SidecarContainers UnknownVersionInteroperabilityProxy
  `,
  29: `
    ClusterTrustBundleProjection DisableNodeKubeProxyVersion ImageMaximumGCAge KubeletSeparateDiskGC LoadBalancerIPMode
    MatchLabelKeysInPodAffinity NFTablesProxyMode PodLifecycleSleepAction RuntimeClassInImageCriAPI ServiceAccountTokenJTI
    ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
    StructuredAuthenticationConfiguration StructuredAuthorizationConfiguration TranslateStreamCloseWebsocketRequests
    UserNamespacesPodSecurityStandards VolumeAttributesClass
  `,
  30: `
    APIServingWithRoutine CustomResourceFieldSelectors JobManagedBy JobSuccessPolicy MutatingAdmissionPolicy PortForwardWebsockets
    RecursiveReadOnlyMounts RelaxedEnvironmentVariableValidation RetryGenerateName SELinuxMount ServiceTrafficDistribution
    StorageVersionMigrator
  `,
  31: `
    AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors CoordinatedLeaderElection
    DisableAllocatorDualWrite ImageVolume ResourceHealthStatus SupplementalGroupsPolicy
  `,
  32: 'KubeletCrashLoopBackOffMax KubeletFineGrainedAuthz RelaxedDNSSearchValidation SELinuxChangePolicy',
  33: 'KubeletEnsureSecretPulledImages',
}

/**
 * Added after 1.20, not as alpha. Some were backported to older versions, so it is unknown which
 * minors know them; 1.20 knows none.
 */
export const GATES_OF_LATER: string = `
    AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests AllowOverwriteTerminationGracePeriodSeconds
    CPUManagerPolicyBetaOptions ConcurrentWatchObjectDecode KMSv1 KubeletRegistrationGetOnExistsOnly
    ReloadKubeletServerCertificateFile ResilientWatchCacheInitialization SchedulerQueueingHints SeparateCacheWatchRPC
    SeparateTaintEvictionController StorageNamespaceIndex TopologyManagerPolicyBetaOptions UnauthenticatedHTTP2DOSMitigation
    WatchCacheInitializationPostStartHook
  `

/** By the minor of 1.x from which on they cannot be disabled. */
export const GATES_LOCKED_ON: Readonly<Record<number, string>> = {
  20: `
    AttachVolumeLimit BlockVolume CSIBlockVolume CSIDriverRegistry CSINodeInfo EvenPodsSpread ExternalPolicyForExternalIP NodeLease
    RotateKubeletClientCertificate RuntimeClass SCTPSupport SelectorIndex ServiceAppProtocol StartupProbe SupportNodePidsLimit
    SupportPodPidsLimit TokenRequest TokenRequestProjection VolumePVCDataSource VolumeSnapshotDataSource WatchBookmark WindowsGMSA
    WindowsRunAsUserName
  `,
  24: 'EfficientWatchResumption',
  26: 'CPUManager',
  29: 'APIListChunking RemainingItemCount',
  30: `
    AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint HPAContainerMetrics PodHostIPs PodSchedulingReadiness
    ZeroLimitedNominalConcurrencyShares
  `,
  31: `
    AppArmor AppArmorFields DevicePluginCDIDevices DisableCloudProviders DisableKubeletCloudCredentialProviders ElasticIndexedJob
    JobPodFailurePolicy KubeProxyDrainingTerminatingNodes LogarithmicScaleDown PDBUnhealthyPodEvictionPolicy
    PersistentVolumeLastPhaseTransitionTime PodDisruptionConditions StatefulSetStartOrdinal
  `,
  32: `
    CustomResourceFieldSelectors LoadBalancerIPMode RetryGenerateName ServiceAccountTokenJTI ServiceAccountTokenNodeBindingValidation
    ServiceAccountTokenPodNodeInfo StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks StructuredAuthorizationConfiguration
  `,
}
