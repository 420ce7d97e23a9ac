// SPDX-License-Identifier: Apache-2.0
/**
 * Names that people write where kubelet knows no such field: slips, other spellings, other places,
 * flags, names of other tools, and names that mean nothing to kubelet. Each with what its hint has
 * to name. `-` stands for no hint, the right one wherever a person may have meant two things. `a/b`
 * is `b` within `a`.
 */

/** A slip of the keyboard or of memory, at the top. */
const SLIPS = `
  maxPod maxPods, maxpods maxPods, MaxPods maxPods, max_pods maxPods, max-pods maxPods, maxPodss maxPods, maxPdos maxPods,
  mxaPods maxPods, maxPos maxPods, maxPood -, MAX_PODS maxPods, max.pods maxPods,
  podPidLimit podPidsLimit, podPidsLimits podPidsLimit, podPIDsLimit podPidsLimit, podsPidsLimit podPidsLimit, podPidsLimt podPidsLimit,
  podPidslimit podPidsLimit, podPids podPidsLimit,
  clusterDns clusterDNS, clusterDNSs clusterDNS, cluster_dns clusterDNS, clusterdns clusterDNS, culsterDNS clusterDNS,
  clsuterDomain clusterDomain, clusterDomian clusterDomain, clusterDomains clusterDomain, cluster-domain clusterDomain,
  cgroupDrivr cgroupDriver, cgroupdriver cgroupDriver, cGroupDriver cgroupDriver, cgroupDirver cgroupDriver, cgroupsDriver cgroupDriver,
  cgroup-driver cgroupDriver, cgroupRoots cgroupRoot, cgroupPerQOS cgroupsPerQOS, cgroupsPerQoS cgroupsPerQOS, cgroupsPerQos cgroupsPerQOS,
  cgroupsPerQosEnabled -,
  kubeletCgroup kubeletCgroups, kubletCgroups kubeletCgroups, systemCgroup systemCgroups,
  systemReserve systemReserved, systemReservd systemReserved, sytemReserved systemReserved, system-reserved systemReserved,
  SystemReserved systemReserved, systemReserves systemReserved, kubeReserve kubeReserved, kubeReserverd kubeReserved,
  kube-reserved kubeReserved, kubReserved kubeReserved, kubeletReserved -, nodeReserved -, kubernetesReserved -,
  systemReservedCGroup systemReservedCgroup, systemReservedCgroups systemReservedCgroup, kubeReservedCgroups kubeReservedCgroup,
  reservedSystemCPU reservedSystemCPUs, reservedSystemsCPUs reservedSystemCPUs,
  reservedCPUs reservedSystemCPUs, reservedCpus reservedSystemCPUs, reservedMemorys reservedMemory, reserveMemory reservedMemory,
  enforceNodeAllocatables enforceNodeAllocatable, enforceNodeAllocateable enforceNodeAllocatable,
  enforcedNodeAllocatable enforceNodeAllocatable, enforceNodeAlocatable enforceNodeAllocatable,
  evictionhard evictionHard, evictionHards evictionHard, evictonHard evictionHard, evicitonHard evictionHard, eviction-hard evictionHard,
  eviction_soft evictionSoft, evictonSoft evictionSoft, evictionSoftGracePeriods evictionSoftGracePeriod,
  evictionSoftGrace evictionSoftGracePeriod, evictionHardGracePeriod -, evictionGracePeriod -,
  evictionPressureTransitonPeriod evictionPressureTransitionPeriod, evictionPresureTransitionPeriod evictionPressureTransitionPeriod,
  evictionPressureTransitionPeroid evictionPressureTransitionPeriod, evictionPressureTransition evictionPressureTransitionPeriod,
  evictionMinReclaim -, evictionMinimumReclaims evictionMinimumReclaim, evictionMinimunReclaim evictionMinimumReclaim,
  evictionMaximumReclaim -, evictionMaxPodGracePeriods evictionMaxPodGracePeriod, mergeDefaultEvictionSetting mergeDefaultEvictionSettings,
  featureGate featureGates, featuregates featureGates, FeatureGates featureGates, feature-gates featureGates, featuresGates featureGates,
  faetureGates featureGates, featureFlags -, features -,
  imageGCHighThresholdPercentage -, imageGCHighThreshold imageGCHighThresholdPercent,
  imageGCHightThresholdPercent imageGCHighThresholdPercent, imageGCHighTresholdPercent imageGCHighThresholdPercent,
  imageGCLowThreshold imageGCLowThresholdPercent, imageGCLowTresholdPercent imageGCLowThresholdPercent, imageGCThresholdPercent -,
  imageGCPolicy -, imageGCPeriod -, imageMinGCAge -, imageMaxGCAge -,
  imageMinimumGCAges imageMinimumGCAge, imageMaximumGcAge imageMaximumGCAge, imageMaximunGCAge imageMaximumGCAge,
  cpuManagerPolcy cpuManagerPolicy, cpuMangerPolicy cpuManagerPolicy, CPUManagerPolicy cpuManagerPolicy, cpuManagerPolices -,
  cpuManagerPolicyOption cpuManagerPolicyOptions, cpuManagerReconcilPeriod cpuManagerReconcilePeriod, cpuManager cpuManagerPolicy,
  memoryManagerPolice memoryManagerPolicy, memoryMangerPolicy memoryManagerPolicy, memoryManagerPolicyOptions -,
  memoryManagerReconcilePeriod -, topologyManagerPolcy topologyManagerPolicy, topolgyManagerPolicy topologyManagerPolicy,
  topologyMangerScope topologyManagerScope, topologyManagerReconcilePeriod -, deviceManagerPolicy -, gpuManagerPolicy -,
  cpuCfsQuota cpuCFSQuota, cpuCFSQuotas cpuCFSQuota, cpuCFSquota cpuCFSQuota, cpuCfsQuotaPeriod cpuCFSQuotaPeriod, cpuQuota -,
  failSwapon failSwapOn, failOnSwap -, failSwap failSwapOn, swapOn -, memorySwaps memorySwap, memoryswap memorySwap,
  hairPinMode hairpinMode, hairpinmode hairpinMode, harpinMode hairpinMode,
  resolveConf resolvConf, resolvconf resolvConf, resolv-conf resolvConf, resolvConfig -, resolvConfs resolvConf, resolvCon resolvConf,
  rotateCertificate rotateCertificates, rotateCertifcates rotateCertificates, rotateCerts -, certificateRotation -,
  serverTlsBootstrap serverTLSBootstrap, serverTLSBootstraping -, serverTLSBoostrap serverTLSBootstrap, serverTLS -, tlsBootstrap -,
  tlsCertfile tlsCertFile, tlsCert tlsCertFile, certFile tlsCertFile, tlsPrivateKey tlsPrivateKeyFile, privateKeyFile tlsPrivateKeyFile, tlsKeyFile -,
  tlsCipherSuite tlsCipherSuites, tlsCiphersuites tlsCipherSuites, cipherSuites tlsCipherSuites, tlsChiperSuites -,
  tlsMinVersions tlsMinVersion, minTLSVersion -, tlsMinimumVersion -, tlsMaxVersion -, tlsVersion -,
  serializedImagePulls serializeImagePulls, serializeImagePull serializeImagePulls, serialiseImagePulls serializeImagePulls,
  maxParallelImagePull maxParallelImagePulls, maxParalelImagePulls maxParallelImagePulls, parallelImagePulls -,
  shutdownGracePeriods shutdownGracePeriod, shutDownGracePeriod shutdownGracePeriod, shutdownGracefulPeriod -,
  shutdownGrace shutdownGracePeriod, shutdownGracePeriodCritical shutdownGracePeriodCriticalPods, gracePeriod -, gracefulShutdown -,
  shutdownGracePeriodCriticalPod shutdownGracePeriodCriticalPods, shutdownGracePeriodByPodPriorities -, terminationGracePeriod -,
  staticPodpath staticPodPath, staticPodsPath staticPodPath, staticPodPaths staticPodPath, staticPodUrl staticPodURL, staticPods -, staticPod -,
  staticPodDir -, containerLogMaxFile containerLogMaxFiles, containerLogsMaxFiles containerLogMaxFiles,
  containerLogMaxSizes containerLogMaxSize, containerLogsMaxSize containerLogMaxSize, containerLogMax -, containerMaxLogSize -,
  containerLogMinSize -, containerLogMaxWorker containerLogMaxWorkers, containerRuntimeEndPoint containerRuntimeEndpoint,
  containerRuntimeEndoint containerRuntimeEndpoint, containerRuntimeEnpoint containerRuntimeEndpoint,
  imageServiceEndPoint imageServiceEndpoint, imageService imageServiceEndpoint, containerEndpoint -,
  kubeApiQps kubeAPIQPS, kubeApiBurst kubeAPIBurst, kubeAPIqps kubeAPIQPS, kubeAPI -, apiQPS -, registryPullQps registryPullQPS,
  registryPullBurst -, eventRecordQps eventRecordQPS, eventRecordBurst -, registryQPS registryPullQPS, eventQPS eventRecordQPS,
  protectKernelDefault protectKernelDefaults, protectKernalDefaults protectKernelDefaults, protectKernel protectKernelDefaults,
  readonlyPort readOnlyPort, readOnlyPorts readOnlyPort, readOnyPort readOnlyPort, readPort -, readOnly -, model -, ports port, prot -, adress address,
  addresses -, healthPort healthzPort, healthzBindAdress healthzBindAddress, healthzbindaddress healthzBindAddress, healthzport healthzPort,
  makeIPTableUtilChains makeIPTablesUtilChains, makeIptablesUtilChains makeIPTablesUtilChains, ipTablesDropBit iptablesDropBit,
  allowedUnsafeSysctl allowedUnsafeSysctls, allowedUnsafeSysctrls allowedUnsafeSysctls, allowUnsafeSysctls -, unsafeSysctls -, sysctls -,
  nodeStatusUpdateFrequencey nodeStatusUpdateFrequency, nodeStatusUpdateFreqency nodeStatusUpdateFrequency,
  nodeStatusUpdate nodeStatusUpdateFrequency, nodeStatusFrequency -, nodeLeaseDuration nodeLeaseDurationSeconds, nodeStatus -,
  nodeStatusMaxImage nodeStatusMaxImages, nodeMonitorGracePeriod -, streamingConnectionIdleTimeOut streamingConnectionIdleTimeout,
  streamingConectionIdleTimeout streamingConnectionIdleTimeout, streamingIdleTimeout -, runtimeRequestTimeOut runtimeRequestTimeout,
  runtimeTimeout -, volumePluginDirs volumePluginDir, volumePlugin volumePluginDir, volumePluginsDir volumePluginDir, providerId providerID,
  provider -, podCidr podCIDR, podCIDRs podCIDR, nodeCIDR -, clusterCIDR -, clusterIP -, serviceCIDR -, podSubnet -,
  registerTaints registerWithTaints, registerWithTaint registerWithTaints, registerWithTains registerWithTaints, registerNodes registerNode,
  registerWithLabels -, registerWithFQDN -, seccompDefaults seccompDefault, seccompProfile -, runonce runOnce, podPerCore podsPerCore,
  podsPerCores podsPerCore, podsPerNode -, maxOpenFile maxOpenFiles, minOpenFiles -, minPods -, maxFiles -, oomScoreAdjust -,
  oomscoreadj oomScoreAdj, syncFrequencies -, syncFrequncy syncFrequency, fileCheckFreqency fileCheckFrequency,
  enableDebuggingHandler enableDebuggingHandlers, enableDebugHandlers -, enableSystemLogHandlers enableSystemLogHandler,
  disableSystemLogHandler -, enableProfiling enableProfilingHandler, enableContentionProfile -, enableControllerAttachDetatch enableControllerAttachDetach,
  crashLoopBackoff crashLoopBackOff, crashloopbackoff crashLoopBackOff, userNamespace userNamespaces, singleProcessOomKill singleProcessOOMKill,
  failCgroupv1 failCgroupV1, failCGroupV1 failCgroupV1, failCgroupV2 -, memoryThrottling memoryThrottlingFactor, memoryThrotlingFactor memoryThrottlingFactor,
  localStorageCapacityIsolations localStorageCapacityIsolation, showHiddenMetricsForVersions showHiddenMetricsForVersion,
  authenticaton authentication, autentication authentication, authorisation authorization, authorizaton authorization, authentification authentication, loging logging,
  apiversion apiVersion, kinds kind, qosReserve qosReserved, contentTypes contentType, tracings tracing, podLogDir podLogsDir, logsDir -
`

/** Another place, or a place that is flattened into a name. */
const PLACES = `
  clientCAFile authentication.x509.clientCAFile, clientCaFile authentication.x509.clientCAFile, clientCA authentication.x509.clientCAFile,
  tlsClientCAFile -, tlsMode -, x509ClientCAFile authentication.x509.clientCAFile, caFile -,
  x509 authentication.x509, anonymous authentication.anonymous, webhook authentication.webhook|authorization.webhook, mode authorization.mode,
  anonymousEnabled authentication.anonymous.enabled, webhookEnabled authentication.webhook.enabled, authorizationMode authorization.mode,
  authentication.anonymous.enabled authentication.anonymous.enabled, authentication.x509.clientCAFile authentication.x509.clientCAFile,
  authenticationAnonymousEnabled authentication.anonymous.enabled, webhookCacheTTL authentication.webhook.cacheTTL,
  cacheAuthorizedTTL authorization.webhook.cacheAuthorizedTTL, cacheUnauthorizedTTL authorization.webhook.cacheUnauthorizedTTL,
  format logging.format, verbosity logging.verbosity, loggingFormat logging.format, loggingLevel logging.verbosity, logging.format logging.format,
  flushFrequency logging.flushFrequency, vmodule logging.vmodule, splitStream logging.options.text.splitStream|logging.options.json.splitStream,
  swapBehavior memorySwap.swapBehavior, swapBehaviour memorySwap.swapBehavior, memorySwap.swapBehavior memorySwap.swapBehavior,
  samplingRatePerMillion tracing.samplingRatePerMillion, tracingEndpoint tracing.endpoint, maxContainerRestartPeriod crashLoopBackOff.maxContainerRestartPeriod,
  idsPerPod userNamespaces.idsPerPod, sanitization -,
  enabled -, options -, endpoint -, cacheTTL -, text -, json -, key -, value -, effect -, limits -, priority -, numaNode -,
  authentication/clientCAFile authentication.x509.clientCAFile, authentication/mode authorization.mode, authentication/enabled -,
  authentication/anonymus anonymous, authentication/anonymousAuth authentication.anonymous.enabled, authentication/webHook webhook,
  authentication/x509/clientCaFile clientCAFile, authentication/x509/clientCAfile clientCAFile, authentication/x509/clientCertFile -,
  authentication/x509/caFile -, authentication/x509/tlsCertFile tlsCertFile at the top of the config,
  authentication/anonymous/enable enabled, authentication/anonymous/enabeld enabled, authentication/anonymous/disabled -,
  authentication/anonymous/Enabled enabled, authentication/webhook/enable enabled, authentication/webhook/cacheTtl cacheTTL,
  authentication/webhook/cacheTTLs cacheTTL, authentication/webhook/cacheAuthorizedTTL authorization.webhook.cacheAuthorizedTTL,
  authentication/webhook/mode authorization.mode, authentication/maxPods maxPods at the top of the config, authentication/authorization authorization at the top of the config,
  authorization/anonymous authentication.anonymous, authorization/x509 authentication.x509, authorization/modes mode,
  authorization/webhook/cacheTTL -, authorization/webhook/enabled authorization.mode, authorization/webhook/cacheAuthorizedTtl cacheAuthorizedTTL,
  authorization/webhook/cacheUnAuthorizedTTL cacheUnauthorizedTTL, authorization/clientCAFile authentication.x509.clientCAFile,
  logging/fromat format, logging/formats format, logging/verbose -, logging/level logging.verbosity, logging/verbosty verbosity,
  logging/vModule vmodule, logging/flushFrequencySeconds -, logging/flushFreqency flushFrequency, logging/logFormat logging.format,
  logging/containerLogMaxSize containerLogMaxSize at the top of the config, logging/enabled -, logging/port -,
  logging/options/JSON json, logging/options/yaml -, logging/options/splitStream logging.options.text.splitStream|logging.options.json.splitStream,
  logging/options/json/splitStreams splitStream, memorySwap/swapBehaviour swapBehavior, memorySwap/swapbehavior swapBehavior,
  memorySwap/behavior -, memorySwap/failSwapOn failSwapOn at the top of the config, memorySwap/enabled -,
  tracing/endpoints endpoint, tracing/samplingRate -, tracing/samplingRatePerMilion samplingRatePerMillion, tracing/port -, tracing/address -,
  crashLoopBackOff/maxContainerRestartPeriods maxContainerRestartPeriod, crashLoopBackOff/maxRestartPeriod -,
  userNamespaces/idsPerPods idsPerPod, userNamespaces/maxPods maxPods at the top of the config
`

/** Eviction signals, at the top. */
const SIGNALS = `
  nodefs.available nodefs.available, memory.available memory.available, nodefs.inodesFree nodefs.inodesFree, imagefs.available imagefs.available,
  imagefs.inodesFree imagefs.inodesFree, pid.available pid.available, memoryAvailable memory.available, nodefsAvailable nodefs.available,
  nodeFsInodesFree nodefs.inodesFree, imageFSAvailable imagefs.available, nodefs.inodesfree nodefs.inodesFree, nodefs -, available -
`

/** Kubelet's flags, of kubelet 1.34. */
const FLAGS = `
  node-ip --node-ip, nodeIP --node-ip, nodeIp --node-ip, node_ip --node-ip, --node-ip --node-ip, nodeIPs --node-ip, nodeAddress -,
  nodeLabels --node-labels, node-labels --node-labels, nodeLabel --node-labels, labels -, rootDir --root-dir, root-dir --root-dir,
  hostnameOverride --hostname-override, hostname-override --hostname-override, hostNameOverride --hostname-override, hostname -,
  imageCredentialProviderBinDir --image-credential-provider-bin-dir, image-credential-provider-bin-dir --image-credential-provider-bin-dir,
  imageCredentialProviderConfig --image-credential-provider-config, imageCredentialProvider -, cloudProvider --cloud-provider,
  cloud-provider --cloud-provider, cloudConfig --cloud-config, cloud -, containerRuntime --container-runtime,
  container-runtime --container-runtime, kubeconfig --kubeconfig, kubeConfig --kubeconfig, bootstrapKubeconfig --bootstrap-kubeconfig,
  bootstrap-kubeconfig --bootstrap-kubeconfig, certDir --cert-dir, cert-dir --cert-dir, runtimeCgroups --runtime-cgroups,
  networkPlugin --network-plugin, network-plugin --network-plugin, cniBinDir --cni-bin-dir, cni-conf-dir --cni-conf-dir, cni -,
  podInfraContainerImage --pod-infra-container-image, pod-infra-container-image --pod-infra-container-image,
  dynamicConfigDir --dynamic-config-dir, nonMasqueradeCIDR --non-masquerade-cidr, configDir --config-dir, config -, docker -, containerd -,
  lockFile --lock-file, exitOnLockContention --exit-on-lock-contention, logFile --log-file, logDir --log-dir,
  minimumContainerTTLDuration --minimum-container-ttl-duration, maximumDeadContainers --maximum-dead-containers,
  registerSchedulable --register-schedulable, imagePullProgressDeadline --image-pull-progress-deadline, housekeepingInterval --housekeeping-interval,
  seccompProfileRoot --seccomp-profile-root, authentication/node-ip -,
  pod-manifest-path staticPodPath, podManifestPath staticPodPath, manifest-url staticPodURL, manifestURL staticPodURL, registry-qps registryPullQPS,
  event-qps eventRecordQPS, pod-max-pids podPidsLimit, podMaxPids podPidsLimit, anonymous-auth authentication.anonymous.enabled,
  anonymousAuth authentication.anonymous.enabled, client-ca-file authentication.x509.clientCAFile, authorization-mode authorization.mode,
  authentication-token-webhook authentication.webhook.enabled, authenticationTokenWebhook authentication.webhook.enabled,
  authenticationTokenWebhookCacheTtl authentication.webhook.cacheTTL, rotate-server-certificates serverTLSBootstrap,
  rotateServerCertificates serverTLSBootstrap, reserved-cpus reservedSystemCPUs, minimum-image-ttl-duration imageMinimumGCAge,
  image-gc-high-threshold imageGCHighThresholdPercent, kube-api-content-type contentType, contention-profiling enableContentionProfiling,
  logging-format logging.format, v logging.verbosity, log-json-split-stream logging.options.json.splitStream,
  container-runtime-endpoint containerRuntimeEndpoint, fail-swap-on failSwapOn, register-with-taints registerWithTaints
`

/** Names of other tools, and of playbooks. */
const FOREIGN = `
  imageGcHighThreshold imageGCHighThresholdPercent, imageGcLowThreshold imageGCLowThresholdPercent, containerLogMaxSizeMB containerLogMaxSize,
  imageGcHighThresholdPercent imageGCHighThresholdPercent, imageMinimumGcAge imageMinimumGCAge, reservedSystemCpus reservedSystemCPUs,
  evictionMaxPodGracePeriodSeconds evictionMaxPodGracePeriod, shutdownGracePeriodSeconds shutdownGracePeriod,
  shutdownGracePeriodCriticalPodsSeconds shutdownGracePeriodCriticalPods, insecureKubeletReadonlyPortEnabled readOnlyPort,
  topologyManager topologyManagerPolicy|topologyManagerScope, memoryManager memoryManagerPolicy, maxPodsPerNode maxPods,
  max_pods_per_node maxPods, pod_pids_limit podPidsLimit, reservedResourcesConfig -,
  kubeconfigPath --kubeconfig, logFormat logging.format, logLevel logging.verbosity, taints registerWithTaints, nodeTaints registerWithTaints,
  volumePluginDirectory volumePluginDir, networkPluginName --network-plugin, resolverConfig resolvConf, apiServers -, allowPrivileged -,
  experimentalAllowedUnsafeSysctls allowedUnsafeSysctls, requireKubeconfig -, configureCbr0 -, reconcileCIDR -, enableCustomMetrics -,
  babysitDaemons -, nvidiaGPUs -, dockerDisableSharedPID -, networkPluginMTU --network-plugin-mtu,
  cluster-dns-ip clusterDNS, clusterDNSIP clusterDNS, cpu-cfs-quota-enforced cpuCFSQuota, memory-manager-reserved-memory reservedMemory,
  shutdown-grace-period-for-critical-pods shutdownGracePeriodCriticalPods, pod-pids-limit podPidsLimit, log-level logging.verbosity,
  node-taints registerWithTaints, standalone-mode -, api-server -, bootstrap-token -, authentication-mode -, server-certificate -,
  device-ownership-from-security-context -, defaultRuntimeSeccompProfileEnabled seccompDefault, skipNodeRegistration -,
  disableManifestsDirectory -, extraArgs -, extraConfig -, extraMounts -, node-taint registerWithTaints, node-label --node-labels,
  node-name --hostname-override, nodeName --hostname-override, kubelet-arg -, node-external-ip -, selinux -, private-registry -, snapshotter -,
  pause-image -, criSocket containerRuntimeEndpoint, dnsDomain clusterDomain, imagePullSerial serializeImagePulls, imagePullPolicy -,
  kubeletExtraArgs -, kubeletExtraConfig -, nodeRegistration -, ignorePreflightErrors -, certificateKey -, controlPlaneEndpoint -,
  kubelet_max_pods maxPods, kubelet_status_update_frequency nodeStatusUpdateFrequency, kubelet_cgroup_driver cgroupDriver,
  kubelet_pod_pids_limit podPidsLimit, kubelet_shutdown_grace_period shutdownGracePeriod, kubelet_fail_swap_on failSwapOn,
  kubelet_cpu_manager_policy cpuManagerPolicy, kubelet_event_record_qps eventRecordQPS, kubelet_rotate_server_certificates serverTLSBootstrap,
  kubelet_authentication_token_webhook authentication.webhook.enabled, kubelet_config_extra_args -, kubelet_node_custom_flags -,
  kube_reserved kubeReserved, eviction_hard evictionHard, kubeletMaxPods maxPods, kubeletRootDir --root-dir,
  runtime-endpoint containerRuntimeEndpoint, image-endpoint imageServiceEndpoint, cgroup_manager cgroupDriver, SystemdCgroup cgroupDriver,
  pids_limit podPidsLimit, maxPids podPidsLimit, maxPodPids -, rootDirectory --root-dir, autoSizingReserved -, machineConfigPoolSelector -,
  kubeletConfig -, tlsSecurityProfile -, maxPodsExpression -, flags -, instance -, cluster -, customCloudConfig -
`

/** Names that stand in other documents, or in none. */
const NOTHING = `
  metadata -, spec -, data -, status -, name -, namespace -, version -, kubelet -, kubeletConfiguration -, KubeletConfiguration -, settings -,
  default -, defaults -, args -, env -, extra -, foo -, test -, todo -, x -, a -, id -, nodeSelector -, tolerations -, affinity -, resources -,
  requests -, replicas -, memory -, cpu -, disk -, swap -, dns -, tls -, log -, logs -, eviction -, image -, images -, pod -, pods -, node -,
  nodes -, server -, servers -, client -, timeout -, interval -, policy -, policies -, driver -, runtime -, network -, security -, metrics -,
  profiling -, debug -, audit -, proxyMode -, ipvs -, scheduler -, etcd -, admission -, apiServer -, kubeProxy -, controllerManager -,
  bindAddress -, clusterName -, region -, zone -, role -, roles -, user -, users -, token -, password -, certificate -, certificates -,
  networking -, podNetworkCidr -, serviceAccount -, hostNetwork -, hostPID -, privileged -, sysctl -, ulimit -, maxMap -, gpu -, devices -,
  cgroups -, cgroup -, reserved -, systemd -, enableServers enableServer, enable -, disabled -, \u4f60\u597d -, '-' -, --- -
`

export const MISTAKEN_NAMES: readonly (readonly [name: string, meant: string])[] = [
  SLIPS,
  PLACES,
  SIGNALS,
  FLAGS,
  FOREIGN,
  NOTHING,
].flatMap((table) =>
  table
    .trim()
    .split(/,\s+/)
    .map((row): [string, string] => {
      const [, name = '', meant = ''] = /^(\S+) (.+)$/.exec(row.trim()) ?? []
      return [name, meant.replaceAll('|', ' or ')]
    }),
)
