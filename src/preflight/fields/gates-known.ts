/**
 * Known feature gates, with the minors of 1.x that know them. Data only; names are separated by
 * white space. Sources: the names that a kubelet 1.20.2 accepts; for newer ones
 * test/compatibility_lifecycle/reference/versioned_feature_list.yaml of Kubernetes 1.34 and 1.36,
 * and every name of a gate in the sources of 1.23, 1.26, 1.29, 1.32 and 1.35 with those of their
 * apiserver, apiextensions-apiserver, client-go, component-base and controller-manager. Together
 * with the removed ones (gates-gone.ts), these are all the gates of 1.20 to 1.36.
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
  24: 'ContextualLogging LoggingAlphaOptions MaxUnavailableStatefulSet',
  25: `
    ContainerCheckpoint JobPodFailurePolicy KubeletTracing MatchLabelKeysInPodTopologySpread NodeInclusionPolicyInPodTopologySpread
    PodDisruptionConditions SELinuxMountReadWriteOncePod UserNamespacesSupport
  `,
  26: `
    AggregatedDiscoveryEndpoint CrossNamespaceVolumeDataSource DynamicResourceAllocation EventedPLEG PDBUnhealthyPodEvictionPolicy
    PodSchedulingReadiness StatefulSetStartOrdinal TopologyManagerPolicyAlphaOptions TopologyManagerPolicyOptions WindowsHostNetwork
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
    MatchLabelKeysInPodAffinity NFTablesProxyMode PodLifecycleSleepAction RuntimeClassInImageCriApi ServiceAccountTokenJTI
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
  32: `
    AllowUnsafeMalformedObjectDeletion CBORServingAndStorage ComponentFlagz ComponentStatusz DRAAdminAccess
    DRAResourceClaimDeviceStatus ExternalServiceAccountTokenSigner InPlacePodVerticalScalingExclusiveCPUs KubeletCrashLoopBackOffMax
    KubeletFineGrainedAuthz PodLevelResources PodLifecycleSleepActionAllowZero PodLogsQuerySplitStreams RelaxedDNSSearchValidation
    RemoteRequestHeaderUID SELinuxChangePolicy SchedulerAsyncPreemption WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown
  `,
  33: `
    ContainerStopSignals DRADeviceTaints DRAPartitionableDevices DRAPrioritizedList DeploymentReplicaSetTerminatingReplicas
    HPAConfigurableTolerance KubeletEnsureSecretPulledImages KubeletPSI KubeletServiceAccountTokenForCredentialProviders
    ListFromCacheSnapshot MutableCSINodeAllocatableCount PodObservedGenerationTracking PodTopologyLabelsAdmission
    PreferSameTrafficDistribution ReduceDefaultCrashLoopBackOffDecay StorageCapacityScoring StrictIPCIDRValidation
  `,
  34: `
    ClearingNominatedNodeNameAfterBinding ContainerRestartRules DRAConsumableCapacity DRADeviceBindingConditions DRAExtendedResource
    EnvFiles HostnameOverride InPlacePodVerticalScalingExclusiveMemory NominatedNodeNameForExpectation PodCertificateRequest
    RelaxedServiceNameValidation
  `,
  35: `
    ConstrainedImpersonation DRADeviceTaintRules GangScheduling GenericWorkload ImageVolumeWithDigest
    InPlacePodLevelResourcesVerticalScaling MutablePVNodeAffinity MutablePodResourcesForSuspendedJobs
    MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures RestartAllContainersOnContainerExits
    TaintTolerationComparisonOperators UserNamespacesHostNetworkSupport VolumeLimitScaling
  `,
  36: `
    CRIListStreaming ControllerManagerReleaseLeaderElectionLockOnExit DRAListTypeAttributes DRANodeAllocatableResources
    DRAResourcePoolStatus DRAWorkloadResourceClaims ManifestBasedAdmissionControlConfig NativeHistograms
    PersistentVolumeClaimUnusedSinceTime PodLevelResourceManagers PodsAPI ShardedListAndWatch TopologyAwareWorkloadScheduling
    WorkloadAwarePreemption WorkloadWithJob
  `,
}

/**
 * Added after 1.20, not as alpha. Some were backported to older versions, so it is unknown which
 * minors know them; 1.20 knows none.
 */
export const GATES_OF_LATER: string = `
    AggregatedDiscoveryRemoveBetaType AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests
    AllowOverwriteTerminationGracePeriodSeconds AllowParsingUserUIDFromCertAuth AllowServiceExternalIPs AtomicFIFO
    AuthorizePodWebsocketUpgradeCreatePermission BtreeWatchCache CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
    CSIServiceAccountTokenSecrets ChangeContainerStatusOnKubeletRestart ClientsAllowCARotation ClientsAllowCBOR
    ClientsAllowTLSCacheGC ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation ComponentSLIs
    ConcurrentWatchObjectDecode DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout DeclarativeValidation
    DeclarativeValidationBeta DeclarativeValidationTakeover DetectCacheInconsistency DisableCPUQuotaWithExclusiveCPUs
    ExtendWebSocketsToKubelet GitRepoVolumeDriver InOrderInformers InOrderInformersBatchProcess
    InPlacePodVerticalScalingInitContainers InformerResourceVersion KMSv1 KubeletPodResourcesListUseActivePods
    KubeletRegistrationGetOnExistsOnly LoggingBetaOptions LoggingStableOptions MatchLabelKeysInPodTopologySpreadSelectorMerge
    OpportunisticBatching OrderedNamespaceDeletion PLEGOnDemandRelist PreventStaticPodAPIReferences ReloadKubeletClientCAFile
    ReloadKubeletServerCertificateFile ResilientWatchCacheInitialization ResourceHealthStatusMessage SchedulerAsyncAPICalls
    SchedulerPopFromBackoffQ SchedulerQueueingHints SeparateCacheWatchRPC SeparateTaintEvictionController
    ServiceAccountNodeAudienceRestriction ServiceCIDRStatusFieldWiping SizeBasedListCostEstimate StaleControllerConsistencyDaemonSet
    StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet
    StatefulSetSemanticRevisionComparison StorageNamespaceIndex StreamingCollectionEncodingToJSON
    StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfigurationEgressSelector
    StructuredAuthenticationConfigurationJWKSMetrics SystemdWatchdog TokenRequestServiceAccountUIDValidation
    TopologyManagerPolicyBetaOptions UnauthenticatedHTTP2DOSMitigation UnlockWhileProcessingFIFO
    WatchCacheInitializationPostStartHook WatchListClient
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
    ComponentSLIs CronJobsScheduledAnnotation CustomResourceFieldSelectors LoadBalancerIPMode MemoryManager PodIndexLabel
    RetryGenerateName ServiceAccountTokenJTI ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
    SizeMemoryBackedVolumes StatefulSetAutoDeletePVC StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks
    StructuredAuthorizationConfiguration
  `,
  33: `
    AnyVolumeDataSource BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIMigrationPortworx HonorPVReclaimPolicy
    JobBackoffLimitPerIndex JobSuccessPolicy MatchLabelKeysInPodAffinity NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread
    RecursiveReadOnlyMounts ServiceAccountTokenNodeBinding ServiceTrafficDistribution SidecarContainers TopologyAwareHints
  `,
  34: `
    APIServerTracing AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors ConsistentListFromCache
    JobPodReplacementPolicy KubeletCgroupDriverFromCRI KubeletTracing MultiCIDRServiceAllocator NodeSwap OrderedNamespaceDeletion
    PodLifecycleSleepAction PodLifecycleSleepActionAllowZero ProbeHostPodSecurityStandards RecoverVolumeExpansionFailure
    RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization SchedulerQueueingHints
    SeparateTaintEvictionController StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
    StructuredAuthenticationConfiguration WinDSR WinOverlay
  `,
  35: `
    AggregatedDiscoveryRemoveBetaType DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout ImageMaximumGCAge
    InPlacePodVerticalScaling JobManagedBy PodObservedGenerationTracking PreferSameTrafficDistribution SupplementalGroupsPolicy
    SystemdWatchdog
  `,
  36: `
    CSIServiceAccountTokenSecrets DRAAdminAccess DeclarativeValidation DisableNodeKubeProxyVersion ExternalServiceAccountTokenSigner
    ImageVolume KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet
    MutableCSINodeAllocatableCount NodeLogQuery ProcMountType SELinuxChangePolicy SELinuxMountReadWriteOncePod
    TopologyManagerPolicyOptions UserNamespacesSupport VolumeAttributesClass
  `,
}

/** By the minor of 1.x from which on they cannot be enabled. */
export const GATES_LOCKED_OFF: Readonly<Record<number, string>> = {
  32: 'AllowServiceLBStatusOnNonLB',
  33: 'WatchFromStorageWithoutResourceVersion',
  35: 'AllowOverwriteTerminationGracePeriodSeconds',
  36: 'GitRepoVolumeDriver SeparateCacheWatchRPC',
}
