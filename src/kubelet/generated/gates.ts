// SPDX-License-Identifier: Apache-2.0
/**
 * Every feature gate that a kubelet has known.
 *
 * Read from k8s.io/kubernetes and the modules k8s.io/kubelet, api, apiserver,
 * apiextensions-apiserver, client-go, component-base, cloud-provider and controller-manager of the
 * same releases: v1.20.15 v1.21.14 v1.22.17 v1.23.17 v1.24.17 v1.25.16 v1.26.15 v1.27.16 v1.28.15
 * v1.29.15 v1.30.14 v1.31.14 v1.32.13 v1.33.13 v1.34.4 v1.35.4 v1.36.3 v1.37.2 v1.38.0-beta.0.
 *
 * Written by `npm run fields`: do not edit. SHA-256 of this text with zeros here:
 * 05f45cf6bfa6d5c2a1b3ffa834f508f6d848dfa67cb68a2d8a11987121b52a02
 */
/** Each gate with its states by the minor of 1.x that brought them: see `kubelet/gates.ts`. */
export const GATE_TABLE = `
  APIListChunking:B20,G29!,-33 APIPriorityAndFairness:B20,G29!,-31 APIResponseCompression:B20 APISelfSubjectReview:a26,B27,G28!,-30
  APIServerIdentity:a20,B26 APIServerTracing:a22,B27,G34!,-37 APIServerWebhookAuthenticationToken:a37 APIServingWithRoutine:a30
  AdmissionWebhookMatchConditions:a27,B28,G30!,-33 AdvancedAuditing:G20,G27!,-28 AggregatedDiscoveryEndpoint:a26,B27,G30!,-33
  AggregatedDiscoveryRemoveBetaType:D33,D35!,-38 AllocatorPoolBufferCap:B38 AllowDNSOnlyNodeCSR:d31 AllowInsecureBackendProxy:B20,G21!,-23
  AllowInsecureKubeletCertificateSigningRequests:d31 AllowOverwriteTerminationGracePeriodSeconds:d32,d35!,-38
  AllowParsingUserUIDFromCertAuth:B33 AllowServiceExternalIPs:G36 AllowServiceLBStatusOnNonLB:d29,d32!,-35
  AllowUnsafeMalformedObjectDeletion:a32,B37 AnonymousAuthConfigurableEndpoints:a31,B32,G34!,-37 AnyVolumeDataSource:a20,B24,G33!,-37
  AppArmor:B20,G31!,-33 AppArmorFields:B30,G31!,-33 AtomicFIFO:B36 AtomicWriteVolumeUserFields:a37,B38 AttachVolumeLimit:G20!,-21
  AuthorizeNodeWithSelectors:a31,B32,G34!,-37 AuthorizePodWebsocketUpgradeCreatePermission:B35,G38!
  AuthorizeWithSelectors:a31,B32,G34!,-37 BalanceAttachedNodeVolumes:a20,-22 BlockVolume:G20!,-21
  BoundServiceAccountTokenVolume:a20,B21,G22!,-23 BtreeWatchCache:B32,G33!,-37 CBORServingAndStorage:a32 CPUManager:B20,G26!,-33
  CPUManagerPolicyAlphaOptions:a23 CPUManagerPolicyBetaOptions:B23 CPUManagerPolicyOptions:a22,B23,G33!
  CRDObservedGenerationTracking:b35,B36 CRDValidationRatcheting:a28,B30,G33!,-38 CRIContainerLogRotation:B20,G21!,-22 CRIListStreaming:a36
  CSIBlockVolume:G20!,-21 CSIDriverRegistry:G20!,-21 CSIInlineVolume:B20,G25!,-27 CSIMigration:B20,G25!,-27
  CSIMigrationAWS:b20,B23,G25!,-27 CSIMigrationAWSComplete:a20,-21 CSIMigrationAzureDisk:b20,B23,G24,G25!,-27
  CSIMigrationAzureDiskComplete:a20,-21 CSIMigrationAzureFile:a20,b21,B24,G26,G27!,-30 CSIMigrationAzureFileComplete:a20,-21
  CSIMigrationGCE:b20,B23,G25!,-28 CSIMigrationGCEComplete:a20,-21 CSIMigrationOpenStack:b20,B21,G24!,-26
  CSIMigrationOpenStackComplete:a20,-21 CSIMigrationPortworx:a23,b25,B31,G33!,-36 CSIMigrationRBD:a24,d28,-31
  CSIMigrationvSphere:b20,B25,G26,G27!,-29 CSIMigrationvSphereComplete:b20,-22 CSINodeExpandSecret:a25,B27,G29!,-31 CSINodeInfo:G20!,-21
  CSIServiceAccountToken:a20,B21,G22!,-25 CSIServiceAccountTokenSecrets:B35,G36! CSIStorageCapacity:a20,B21,G24!,-28
  CSIVolumeFSGroupPolicy:B20,G23!,-25 CSIVolumeHealth:a21 CSRDuration:B22,G24!,-26 CertificateSigningRequestMLDSA:b38
  ChangeContainerStatusOnKubeletRestart:d35 ClearingNominatedNodeNameAfterBinding:a34,B35 ClientsAllowCARotation:B36 ClientsAllowCBOR:a32
  ClientsAllowConnectionPool:B38 ClientsAllowTLSCacheGC:B36 ClientsPreferCBOR:a32 CloudControllerManagerWatchBasedRoutesReconciliation:a35
  CloudControllerManagerWebhook:a27 CloudDualStackNodeIPs:a27,B29,G30!,-32 CloudNodeAdditionalLabelsReconciliation:a38
  ClusterTrustBundle:a27,b33,G37 ClusterTrustBundleProjection:a29,b33,G37 ComponentFlagz:a32,B36 ComponentSLIs:a26,B27,G32!,-35
  ComponentStatusz:a32,B36 CompositePodGroup:a37,b38 ConcurrentWatchObjectDecode:b31,B37 ConditionalAuthorization:a38
  ConfigurableFSGroupPolicy:B20,G23!,-25 ConsistentGetFromCache:a38 ConsistentHTTPGetHandlers:G26,G30!,-31
  ConsistentListFromCache:a28,B31,G34!,-37 ConsistentListFromCacheSkipTimeoutFallback:a37 ConstrainedImpersonation:a35,B36
  ContainerCheckpoint:a25,B30 ContainerRestartRules:a34,B35 ContainerStopSignals:a33 ContextualLogging:a24,B30
  ControllerManagerLeaderMigration:B22,G24!,-27 ControllerManagerReleaseLeaderElectionLockOnExit:a36,-38 CoordinatedLeaderElection:a31,b33
  CronJobControllerV2:a20,B21,G22!,-23 CronJobTimeZone:a24,B25,G27!,-29 CronJobsScheduledAnnotation:B28,G32!,-35
  CrossNamespaceVolumeDataSource:a26 CustomCPUCFSQuotaPeriod:a20,G36 CustomResourceFieldSelectors:a30,B31,G32!,-38
  CustomResourceValidationExpressions:a23,B25,G29!,-31 DRAAdminAccess:a32,B34,G36! DRAConsumableCapacity:a34,B36,G38
  DRAControlPlaneController:a31,-32 DRADerivedAttributes:a37 DRADeviceBindingConditions:a34,B36,G38! DRADeviceCompatibilityGroups:a37
  DRADeviceTaintRules:a35,b36,G37,G38! DRADeviceTaints:a33,B36,G37,G38! DRAExtendedResource:a34,B36,G37!
  DRAFractionalCapacityRange:b37,G38 DRAListTypeAttributes:a36 DRANodeAllocatableResources:a36 DRAOptionalNodeOperations:a37
  DRAPartitionableDevices:a33,B36,G38! DRAPartitionableDevicesType:a37 DRAPrioritizedList:a33,B34,G36,G37!
  DRAResourceClaimDeviceStatus:a32,B33,G37! DRAResourceClaimGranularStatusAuthorization:B36 DRAResourcePoolStatus:a36
  DRASchedulerFilterTimeout:B34 DRAWorkloadResourceClaims:a36,b37 DaemonSetUpdateSurge:a21,B22,G25!,-27 DeclarativeValidation:B33,G36!
  DeclarativeValidationBeta:B36 DeclarativeValidationTakeover:b33,d36,d37! DefaultHostNetworkHostPortsInPodTemplates:d28,-31
  DefaultPodSysctls:a37 DefaultPodTopologySpread:B20,G24!,-26 DelegateFSGroupToCSIDriver:a22,B23,G26!,-28
  DeploymentReplicaSetTerminatingReplicas:a33,B35 DetectCacheInconsistency:B34 DevicePluginCDIDevices:a28,B29,G31!,-34
  DevicePlugins:B20,G26!,-28 DisableAcceleratorUsageMetrics:B20,G25!,-28 DisableAllocatorDualWrite:a31,b33,G34,G35!,-38
  DisableCPUQuotaWithExclusiveCPUs:B33,D36,D37! DisableCloudProviders:a22,B29,G31!,-33
  DisableKubeletCloudCredentialProviders:a23,B29,G31!,-33 DisableNodeKubeProxyVersion:a29,d31,D33,D36!
  DownwardAPIHugePages:a20,b21,B23,G27!,-29 DryRun:G20,G26!,-28 DynamicKubeletConfig:B20,d22,-26 DynamicNodeLocalEphemeralVolumes:a38
  DynamicResourceAllocation:a26,b32,G34,G35!,-38 EfficientWatchResumption:a20,B21,G24!,-33 ElasticIndexedJob:B27,G31!,-34
  EmptyDirVolumeMode:a37 EndpointSlice:B20,G21!,-25 EndpointSliceNodeName:a20,G21!,-25 EndpointSliceProxying:B20,G22!,-25
  EndpointSliceTerminatingCondition:a20,B22,G26!,-28 EnvFiles:a34,B35,G38! EphemeralContainers:a20,B23,G25!,-27 EtcdRangeStream:B37
  EvenPodsSpread:G20!,-21 EventedPLEG:a26 EvictionRequestAPI:a37 ExcludeAdmissionWebhookVirtualResources:B37 ExecProbeTimeout:G20,G35!,-38
  ExpandCSIVolumes:B20,G24,-27 ExpandInUsePersistentVolumes:B20,G24,-27 ExpandPersistentVolumes:B20,G24,-27
  ExpandedDNSConfig:a22,B26,G28!,-30 ExperimentalHostUserNamespaceDefaulting:b20,d28!,-30 ExtendWebSocketsToKubelet:B36,G38!
  ExternalPolicyForExternalIP:G20!,-22 ExternalServiceAccountTokenSigner:a32,B34,G36! GRPCContainerProbe:a23,B24,G27!,-29
  GRPCContainerProbeTLS:a37 GangScheduling:a35,-37 GenericEphemeralVolume:a20,B21,G23!,-25 GenericWorkload:a35,b37
  GitRepoVolumeDriver:d33,d36! GracefulNodeShutdown:a20,B21 GracefulNodeShutdownBasedOnPodPriority:a23,B24 H2CContainerProbe:a37
  HPAConfigurableTolerance:a33,B35,G37! HPAContainerMetrics:a20,B27,G30!,-32 HPAGeneration:B37,G38! HPAOptimizedSelectorStore:B37
  HPAScaleToZero:a20,B37 HonorPVReclaimPolicy:a23,B31,G33!,-36 HostnameOverride:a34,B35,G37! HugePageStorageMediumSize:B20,G22!,-24
  HugepageAwareEviction:B37 HyperVContainer:d20,-21 IPTablesOwnershipCleanup:a25,B27,G28!,-30 IPv6DualStack:a20,B21,G23!,-25
  IdentifyPodOS:a23,B24,G25!,-27 ImageMaximumGCAge:a29,B30,G35! ImageVolume:a31,b33,B35,G36! ImageVolumeWithDigest:a36
  ImmutableEphemeralVolumes:B20,G21!,-24 InOrderInformers:B33,G36! InOrderInformersBatchProcess:B35
  InPlacePodLevelResourcesVerticalScaling:a35,B36 InPlacePodVerticalScaling:a27,B33,G35!,-38
  InPlacePodVerticalScalingAllocatedStatus:a32,d33,-36 InPlacePodVerticalScalingExclusiveCPUs:a32
  InPlacePodVerticalScalingExclusiveMemory:a34 InPlacePodVerticalScalingInitContainers:B36,G37!
  InPlacePodVerticalScalingMemoryBackedVolumes:a37 InPlacePodVerticalScalingSchedulerPreemption:a37 InTreePluginAWSUnregister:a21,-31
  InTreePluginAzureDiskUnregister:a21,-31 InTreePluginAzureFileUnregister:a21,-31 InTreePluginGCEUnregister:a21,-31
  InTreePluginOpenStackUnregister:a21,-31 InTreePluginPortworxUnregister:a23,-36 InTreePluginRBDUnregister:a23,d28,-31
  InTreePluginvSphereUnregister:a21,-31 IndexedJob:a21,B22,G24!,-26 InformerResourceVersion:a30,G35
  IngressClassNamespacedParams:a21,B22,G23!,-25 InterPodAffinityHostnameFastPath:a37 JobBackoffLimitPerIndex:a28,B29,G33!,-37
  JobManagedBy:a30,B32,G35!,-38 JobMutableNodeSchedulingDirectives:B23,G27!,-29 JobPodFailurePolicy:a25,B26,G31!,-33
  JobPodReplacementPolicy:a28,B29,G34!,-37 JobReadyPods:a23,B24,G29!,-31 JobSuccessPolicy:a30,B31,G33!,-37
  JobTrackingWithFinalizers:a22,b23,B25,G26!,-29 KMSv1:D28,d29 KMSv2:a25,B27,G29!,-32 KMSv2KDF:b28,G29!,-32
  KubeAPIServerWorkloadsTrust:a38 KubeProxyDrainingTerminatingNodes:a28,B30,G31!,-33 KubeProxyIPVS:D37
  KubeProxyNFTablesLocalhostNodePorts:a37,B38 KubeletAllocatedPodsEndpoint:a37 KubeletCgroupDriverFromCRI:a28,B31,G34!
  KubeletCrashLoopBackOffMax:a32,B35 KubeletCredentialProviders:a20,B24,G26!,-28 KubeletEnsureSecretPulledImages:a33,B35
  KubeletFineGrainedAuthz:a32,B33,G36! KubeletInUserNamespace:a22,B37 KubeletPSI:a33,B34,G36! KubeletPodResources:B20,G28!,-30
  KubeletPodResourcesDynamicResources:a27,B34,G36! KubeletPodResourcesGet:a27,B34,G36! KubeletPodResourcesGetAllocatable:a21,B23,G28!,-30
  KubeletPodResourcesListUseActivePods:D34 KubeletRegistrationGetOnExistsOnly:d32 KubeletSeparateDiskGC:a29,B31
  KubeletServiceAccountTokenForCredentialProviders:a33,B34 KubeletTracing:a25,B27,G34!,-38 LegacyNodeRoleBehavior:B20,g21!,-22
  LegacyServiceAccountTokenCleanUp:a28,B29,G30!,-32 LegacyServiceAccountTokenNoAutoGeneration:B24,G26,G27!,-29
  LegacyServiceAccountTokenTracking:a26,B27,G28!,-30 LegacySidecarContainers:d33,-34 ListFromCacheSnapshot:a33,B34
  LoadBalancerIPMode:a29,B30,G32!,-35 LocalStorageCapacityIsolation:B20,G25!,-27 LocalStorageCapacityIsolationFSQuotaMonitoring:a20,b31
  LogarithmicScaleDown:a21,B22,G31!,-37 LoggingAlphaOptions:a25 LoggingBetaOptions:B25 ManagedFieldsOptOut:a38
  ManagedFieldsOptOutClient:a38 ManifestBasedAdmissionControlConfig:a36,B37 MatchLabelKeysInPodAffinity:a29,B31,G33!,-38
  MatchLabelKeysInPodTopologySpread:a25,B27 MatchLabelKeysInPodTopologySpreadSelectorMerge:B34 MaxUnavailableStatefulSet:a24,b35,B37
  MemoryManager:a21,B22,G32!,-36 MemoryQoS:a22,B37 MinDomainsInPodTopologySpread:a24,b25,B27,G30!,-32
  MinimizeIPTablesRestore:a26,B27,G28!,-30 MixedProtocolLBService:a20,B24,G26!,-28 MultiCIDRRangeAllocator:a25,-29
  MultiCIDRServiceAllocator:a27,b31,G33,G34!,-38 MutableCSINodeAllocatableCount:a33,b34,B35,G36! MutablePVNodeAffinity:a35
  MutablePodResourcesForSuspendedJobs:a35,B36 MutableSchedulingDirectivesForSuspendedJobs:a35,B36 MutatingAdmissionPolicy:a30,b34,G36
  NFTablesNetlink:B37 NFTablesProxyMode:a29,B31,G33!,-38 NamespaceDefaultLabelName:B21,G22!,-24 NativeHistograms:a36,B37
  NetworkPolicyEndPort:a21,B22,G25!,-27 NetworkPolicyStatus:a24,-28 NewVolumeManagerReconstruction:b27,B28,G30!,-32
  NodeControllerLeaseCircuitBreaker:B37 NodeDeclaredFeatures:a35,B36,G37! NodeDisruptionExclusion:B20,G21!,-22
  NodeInclusionPolicyInPodTopologySpread:a25,B26,G33! NodeLease:G20!,-23 NodeLifecycleConditions:a37 NodeLogQuery:a27,b30,G36!
  NodeOutOfServiceVolumeDetach:a24,B26,G28!,-32 NodeSwap:a22,b28,B30,G34!,-38 NominatedNodeNameForExpectation:a34,B35
  NonPreemptingPriority:B20,G24!,-26 OpenAPIEnums:a23,B24 OpenAPIV2LazyBuild:B38 OpenAPIV3:a23,B24,G27!,-29 OpportunisticBatching:B35
  OrderedNamespaceDeletion:b30,B33,G34!,-37 PDBUnhealthyPodEvictionPolicy:a26,B27,G31!,-33 PLEGOnDemandRelist:B36,G37!
  PersistentVolumeClaimUnusedSinceTime:a36,B37 PersistentVolumeLastPhaseTransitionTime:a28,B29,G31!,-33
  PodAffinityNamespaceSelector:a21,B22,G24!,-26 PodAndContainerStatsFromCRI:a23,b37 PodCertificateMLDSA:b38
  PodCertificateRequest:a34,b35,G37 PodDeletionCost:a21,B22 PodDisruptionBudget:B20,G21!,-25 PodDisruptionConditions:a25,B26,G31!,-34
  PodGroupPreemptionPolicy:a37,-38 PodHasNetworkCondition:a25,-28 PodHostIPs:a28,B29,G30!,-32 PodIndexLabel:B28,G32!,-35
  PodLevelResourceManagers:a36,b37 PodLevelResources:a32,B34 PodLevelResourcesFixDefaulting:B37 PodLevelResourcesFixKubeletQOSClass:B37
  PodLifecycleSleepAction:a29,B30,G34!,-37 PodLifecycleSleepActionAllowZero:a32,B33,G34!,-37 PodLogsQuerySplitStreams:a32
  PodObservedGenerationTracking:a33,B34,G35! PodOverhead:B20,G24!,-26 PodReadyToStartContainersCondition:a28,B29,G37!
  PodSchedulingReadiness:a26,B27,G30!,-38 PodSecurity:a22,B23,G25!,-28 PodTopologyLabelsAdmission:a33,B35 PodsAPI:a36,B37
  PortForwardWebsockets:a30,B31,G38! PreferNominatedNode:a21,B22,G24!,-26 PreferSameTrafficDistribution:a33,B34,G35!,-38
  PreventStaticPodAPIReferences:B34,-37 ProbeHostPodSecurityStandards:G34!,-35 ProbeTerminationGracePeriod:a21,b22,B25,G28!,-29
  ProcMountType:a20,b31,B33,G36! ProxyTerminatingEndpoints:a22,B26,G28!,-30 QOSReserved:a20 ReadWriteOncePod:a22,B27,G29!,-31
  RecoverVolumeExpansionFailure:a23,B32,G34!,-38 RecursiveReadOnlyMounts:a30,B31,G33! ReduceDefaultCrashLoopBackOffDecay:a33
  RelaxedDNSSearchValidation:a32,B33,G34!,-37 RelaxedEnvironmentVariableValidation:a30,B32,G34! RelaxedServiceNameValidation:a34,B36,G37!
  ReloadKubeletClientCAFile:B36 ReloadKubeletServerCertificateFile:B31 RemainingItemCount:B20,G29!,-33 RemoteRequestHeaderUID:a32,B33
  RemoveSelfLink:B20,G24!,-30 RequestCostAggregation:a38 ResilientWatchCacheInitialization:B31,G34!,-37 ResourceHealthStatus:a31,B36
  ResourceHealthStatusMessage:B36 RestartAllContainersOnContainerExits:a35,B36 RetroactiveDefaultStorageClass:a25,B26,G28!,-29
  RetryGenerateName:a30,B31,G32!,-37 RootCAConfigMap:B20,G21!,-22 RotateKubeletClientCertificate:G20!,-21
  RotateKubeletServerCertificate:B20 RunAsGroup:B20,G21!,-22 RuntimeClass:G20!,-24 RuntimeClassInImageCriApi:a29 SCTPSupport:G20!,-22
  SELinuxChangePolicy:a32,B33,G36! SELinuxMount:a30,b33,G37 SELinuxMountReadWriteOncePod:a25,b27,B28,G36! SchedulerAsyncAPICalls:b34
  SchedulerAsyncPreemption:a32,B33 SchedulerPopFromBackoffQ:B33 SchedulerPreQueueingHints:a37,B38 SchedulerQueueingHints:b28,B32,G34!,-37
  SeccompDefault:a22,B25,G27!,-29 SecurityContextDeny:a27,-30 SecurityProfileOCI:a38 SelectorIndex:G20!,-25
  SeparateCacheWatchRPC:B28,d33,d36! SeparateTaintEvictionController:B29,G34!,-38 ServerSideApply:B20,G22,G26!,-32
  ServerSideFieldValidation:a23,B25,G27!,-32 ServiceAccountIssuerDiscovery:B20,G21!,-23 ServiceAccountNodeAudienceRestriction:b32,B33
  ServiceAccountTokenJTI:a29,B30,G32!,-38 ServiceAccountTokenMLDSA:b38 ServiceAccountTokenNodeBinding:a29,B31,G33!,-38
  ServiceAccountTokenNodeBindingValidation:a29,B30,G32!,-38 ServiceAccountTokenPodNodeInfo:a29,B30,G32!,-38 ServiceAppProtocol:G20!,-22
  ServiceCIDRStatusFieldWiping:D36 ServiceIPStaticSubrange:a24,B25,G26!,-28 ServiceInternalTrafficPolicy:a21,B22,G26!,-28
  ServiceLBNodePortControl:a20,B22,G24!,-26 ServiceLoadBalancerClass:a21,B22,G24!,-26 ServiceNodeExclusion:B20,G21!,-22
  ServiceNodePortStaticSubrange:a27,B28,G29!,-31 ServiceTopology:a20,-22 ServiceTrafficDistribution:a30,B31,G33!,-36
  SetHostnameAsFQDN:B20,G22!,-24 ShardedListAndWatch:a36,B38 SidecarContainers:a28,B29,G33!,-37 SizeBasedListCostEstimate:B34
  SizeMemoryBackedVolumes:a20,B22,G32!,-35 SkipReadOnlyValidationGCE:a28,D29,-31 StableLoadBalancerNodeSet:B27,G30!,-32
  StaleControllerConsistencyDaemonSet:B36 StaleControllerConsistencyHPA:B37 StaleControllerConsistencyJob:B36
  StaleControllerConsistencyReplicaSet:B36 StaleControllerConsistencyStatefulSet:B36 StartupProbe:G20!,-23
  StatefulSetAutoDeletePVC:a23,B27,G32!,-35 StatefulSetMinReadySeconds:a22,B23,G25!,-27 StatefulSetRecreateStrategy:a37,B38
  StatefulSetSemanticRevisionComparison:B34 StatefulSetStartOrdinal:a26,B27,G31!,-34 StorageCapacityScoring:a33,B37
  StorageNamespaceIndex:B30,D33 StorageObjectInUseProtection:G20,G23!,-25 StorageVersionAPI:a20 StorageVersionHash:B20
  StorageVersionMigrator:a30,b35,G37 StreamingCollectionEncodingToJSON:B33,G34!,-37 StreamingCollectionEncodingToProtobuf:B33,G34!,-37
  StreamingProxyRedirects:D20,d22,-24 StrictCostEnforcementForVAP:b30,G32!,-35 StrictCostEnforcementForWebhooks:b30,G32!,-35
  StrictIPCIDRValidation:a33,B36,G38! StructuredAuthenticationConfiguration:a29,B30,G34!,-37
  StructuredAuthenticationConfigurationEgressSelector:B34 StructuredAuthenticationConfigurationJWKSMetrics:B35
  StructuredAuthorizationConfiguration:a29,B30,G32!,-36 SupplementalGroupsPolicy:a31,B33,G35!,-38 SupportNodePidsLimit:G20!,-23
  SupportPodPidsLimit:G20!,-23 SuspendJob:a21,B22,G24!,-26 Sysctls:B20,G21!,-23 SystemdWatchdog:B32,G35!,-38
  TTLAfterFinished:a20,B21,G23!,-25 TaintTolerationComparisonOperators:a35 TokenRequest:G20!,-21 TokenRequestProjection:G20!,-21
  TokenRequestServiceAccountUIDValidation:B34 TopologyAwareHints:a21,b23,B24,G33!,-36 TopologyAwareWorkloadScheduling:a36,b38
  TopologyManager:B20,G27!,-29 TopologyManagerPolicyAlphaOptions:a26 TopologyManagerPolicyBetaOptions:b26,B28
  TopologyManagerPolicyOptions:a26,B28,G32,G36! TranslateStreamCloseWebsocketRequests:a29,B30,G38!
  UnauthenticatedHTTP2DOSMitigation:b25,B29 UnknownVersionInteroperabilityProxy:a28,B36 UnlockWhileProcessingFIFO:B36
  UserNamespacesHostNetworkSupport:a35 UserNamespacesPodSecurityStandards:a29,-35 UserNamespacesStatelessPodsSupport:a25,-28
  UserNamespacesSupport:a28,b30,B33,G36! ValidateProxyRedirects:B20,D22,-24 ValidatingAdmissionPolicy:a26,b28,G30!,-32
  VolumeAttributesClass:a29,b31,G34,G36! VolumeBindMountOptions:a37 VolumeCapacityPriority:a21,-33 VolumeLimitScaling:a35,B37
  VolumePVCDataSource:G20!,-21 VolumeSnapshotDataSource:G20!,-22 VolumeSubpath:G20,G23!,-25 WarningHeaders:B20,G22!,-24
  WatchBookmark:G20!,-33 WatchCacheInitializationPostStartHook:b31,B36,G37! WatchFromStorageWithoutPrevKV:B38
  WatchFromStorageWithoutResourceVersion:b27,d33!,-36 WatchList:a27,B32,b33,B34 WatchListClient:b30,B35
  WatchListClientConcurrentDecoding:B38 WatchListCompression:B37 WebhookRoundTripLoadBalancing:B37 WinDSR:a20,B33,G34!,-38
  WinOverlay:B20,G34!,-38 WindowsCPUAndMemoryAffinity:a32,B38 WindowsEndpointSliceProxying:a20,B21,G22!,-25 WindowsGMSA:G20!,-21
  WindowsGracefulNodeShutdown:a32,B34 WindowsHostNetwork:A26,d33,-38 WindowsHostProcessContainers:a22,B23,G26!,-28
  WindowsRunAsUserName:G20!,-21 WorkloadAwarePreemption:a36,-37 WorkloadWithJob:a36 ZeroLimitedNominalConcurrencyShares:b29,G30!,-32
  csiMigrationRBD:a23,-24
`

/** The gates that each gate needs to be on, by the minor of 1.x. */
export const GATE_NEEDS = `
  AuthorizeNodeWithSelectors:35>AuthorizeWithSelectors;37> ClusterTrustBundleProjection:35>ClusterTrustBundle
  CompositePodGroup:37>GenericWorkload,TopologyAwareWorkloadScheduling DRAAdminAccess:35>DynamicResourceAllocation;38>
  DRAConsumableCapacity:35>DynamicResourceAllocation;38> DRADerivedAttributes:37>DynamicResourceAllocation;38>
  DRADeviceBindingConditions:35>DRAResourceClaimDeviceStatus,DynamicResourceAllocation;38>DRAResourceClaimDeviceStatus
  DRADeviceCompatibilityGroups:37>DRAPartitionableDevices,DynamicResourceAllocation;38>DRAPartitionableDevices
  DRADeviceTaintRules:35>DRADeviceTaints DRADeviceTaints:35>DynamicResourceAllocation;38>
  DRAExtendedResource:35>DynamicResourceAllocation;38> DRAFractionalCapacityRange:37>DRAConsumableCapacity
  DRAListTypeAttributes:36>DynamicResourceAllocation;38> DRANodeAllocatableResources:36>DynamicResourceAllocation;38>
  DRAOptionalNodeOperations:37>DynamicResourceAllocation,NodeDeclaredFeatures;38>NodeDeclaredFeatures
  DRAPartitionableDevices:35>DynamicResourceAllocation;38>
  DRAPartitionableDevicesType:37>DRAPartitionableDevices,DRAResourcePoolStatus,DynamicResourceAllocation;38>DRAPartitionableDevices,DRAResourcePoolStatus
  DRAPrioritizedList:35>DynamicResourceAllocation;38>
  DRAResourceClaimGranularStatusAuthorization:36>DRAResourceClaimDeviceStatus,DynamicResourceAllocation;38>DRAResourceClaimDeviceStatus
  DRAResourcePoolStatus:36>DynamicResourceAllocation;38> DRASchedulerFilterTimeout:35>DynamicResourceAllocation;38>
  DRAWorkloadResourceClaims:36>DynamicResourceAllocation,GenericWorkload;38>GenericWorkload
  DeclarativeValidationBeta:36>DeclarativeValidation DeclarativeValidationTakeover:35>DeclarativeValidation
  DisableAllocatorDualWrite:35>MultiCIDRServiceAllocator;38> DynamicNodeLocalEphemeralVolumes:38>NodeDeclaredFeatures
  EventedPLEG:37>PLEGOnDemandRelist ExtendWebSocketsToKubelet:36>NodeDeclaredFeatures GangScheduling:35>GenericWorkload;37>
  GracefulNodeShutdownBasedOnPodPriority:35>GracefulNodeShutdown H2CContainerProbe:37>NodeDeclaredFeatures
  ImageVolumeWithDigest:36>ImageVolume
  InPlacePodLevelResourcesVerticalScaling:35>InPlacePodVerticalScaling,NodeDeclaredFeatures,PodLevelResources;38>NodeDeclaredFeatures,PodLevelResources
  InPlacePodVerticalScalingAllocatedStatus:35>InPlacePodVerticalScaling;36>
  InPlacePodVerticalScalingExclusiveCPUs:35>InPlacePodVerticalScaling;38>
  InPlacePodVerticalScalingExclusiveMemory:35>InPlacePodVerticalScaling,MemoryManager;36>InPlacePodVerticalScaling;38>
  InPlacePodVerticalScalingInitContainers:36>InPlacePodVerticalScaling,NodeDeclaredFeatures;38>NodeDeclaredFeatures
  InPlacePodVerticalScalingMemoryBackedVolumes:37>InPlacePodVerticalScaling,NodeDeclaredFeatures;38>NodeDeclaredFeatures
  InPlacePodVerticalScalingSchedulerPreemption:37>InPlacePodVerticalScaling;38>
  KubeAPIServerWorkloadsTrust:38>ClusterTrustBundle,ClusterTrustBundleProjection
  KubeletAllocatedPodsEndpoint:37>InPlacePodVerticalScaling;38>
  MatchLabelKeysInPodTopologySpreadSelectorMerge:35>MatchLabelKeysInPodTopologySpread NodeControllerLeaseCircuitBreaker:37>AtomicFIFO
  PodCertificateRequest:35>AuthorizeNodeWithSelectors;37> PodGroupPreemptionPolicy:37>GenericWorkload;38>
  PodLevelResourceManagers:36>PodLevelResources PodLevelResourcesFixDefaulting:37>PodLevelResources
  PodLevelResourcesFixKubeletQOSClass:37>PodLevelResources PodLifecycleSleepActionAllowZero:35>PodLifecycleSleepAction;37>
  ProcMountType:35>UserNamespacesSupport ResourceHealthStatus:35>DynamicResourceAllocation;38>
  ResourceHealthStatusMessage:36>ResourceHealthStatus RestartAllContainersOnContainerExits:35>ContainerRestartRules,NodeDeclaredFeatures
  ServiceAccountTokenNodeBinding:35>ServiceAccountTokenNodeBindingValidation;38> StaleControllerConsistencyDaemonSet:36>AtomicFIFO
  StaleControllerConsistencyHPA:37>AtomicFIFO StaleControllerConsistencyJob:36>AtomicFIFO
  StaleControllerConsistencyReplicaSet:36>AtomicFIFO StaleControllerConsistencyStatefulSet:36>AtomicFIFO
  StorageVersionAPI:35>APIServerIdentity StructuredAuthenticationConfigurationEgressSelector:35>StructuredAuthenticationConfiguration;37>
  StructuredAuthenticationConfigurationJWKSMetrics:35>StructuredAuthenticationConfiguration;37>
  TopologyAwareWorkloadScheduling:36>GenericWorkload UnknownVersionInteroperabilityProxy:35>APIServerIdentity
  UserNamespacesHostNetworkSupport:35>UserNamespacesSupport;36>NodeDeclaredFeatures,UserNamespacesSupport
  WindowsCPUAndMemoryAffinity:35>MemoryManager;36> WindowsGracefulNodeShutdown:35>GracefulNodeShutdown
  WorkloadAwarePreemption:36>GangScheduling;37> WorkloadWithJob:36>GenericWorkload
`
