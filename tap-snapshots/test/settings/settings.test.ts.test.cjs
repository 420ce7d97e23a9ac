/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/settings/settings.test.ts > TAP > the table of settings > must match snapshot 1`] = `
--node-name  KUBELET_CFG_AGENT_NODE_NAME  nodeName  (none)  Where assignments come from  all  restart
--kubeconfig  KUBELET_CFG_AGENT_KUBECONFIG  kubeconfig  /etc/kubernetes/kubelet.conf  Where assignments come from  all  restart
--channels  KUBELET_CFG_AGENT_CHANNELS  channels  config-source,label,annotation  Where assignments come from  run  restart
--config-namespace  KUBELET_CFG_AGENT_CONFIG_NAMESPACE  configNamespace  kube-system  Where assignments come from  run  restart
--config-key  KUBELET_CFG_AGENT_CONFIG_KEY  configKey  kubelet  Where assignments come from  run  restart
--default-config-map  KUBELET_CFG_AGENT_DEFAULT_CONFIG_MAP  defaultConfigMap  (none)  Where assignments come from  run  restart
--manifest-dir  KUBELET_CFG_AGENT_MANIFEST_DIR  manifestDir  (none)  Where assignments come from  all  restart
--overlay-dir  KUBELET_CFG_AGENT_OVERLAY_DIR  overlayDir  /etc/kubelet-cfg-agent/overlay.d  Where assignments come from  all  restart
--dynamic-config-dir  KUBELET_CFG_AGENT_DYNAMIC_CONFIG_DIR  dynamicConfigDir  /var/lib/kubelet-cfg-agent  On disk  all  restart
--runtime-dir  KUBELET_CFG_AGENT_RUNTIME_DIR  runtimeDir  /run/kubelet-cfg-agent  On disk  all  restart
--kubelet-env-file  KUBELET_CFG_AGENT_KUBELET_ENV_FILE  kubeletEnvFile  /var/lib/kubelet-cfg-agent/kubelet.env  On disk  all  restart
--adopt  KUBELET_CFG_AGENT_ADOPT  adopt  false  On disk  run  restart
--keep-checkpoints  KUBELET_CFG_AGENT_KEEP_CHECKPOINTS  keepCheckpoints  10  On disk  run  live
--config  KUBELET_CFG_AGENT_CONFIG  config  /etc/kubelet-cfg-agent/config.yaml  On disk  all  restart
--kubelet-unit  KUBELET_CFG_AGENT_KUBELET_UNIT  kubeletUnit  kubelet.service  Kubelet  all  restart
--activation  KUBELET_CFG_AGENT_ACTIVATION  activation  auto  Kubelet  all  restart
--kubelet-config-dir  KUBELET_CFG_AGENT_KUBELET_CONFIG_DIR  kubeletConfigDir  (none)  Kubelet  all  restart
--systemctl  KUBELET_CFG_AGENT_SYSTEMCTL  systemctl  /bin/systemctl  Kubelet  all  restart
--system-bus  KUBELET_CFG_AGENT_SYSTEM_BUS  systemBus  /run/dbus/system_bus_socket  Kubelet  run  restart
--change-policy  KUBELET_CFG_AGENT_CHANGE_POLICY  changePolicy  open  Preflight  run  live
--allow-changes  KUBELET_CFG_AGENT_ALLOW_CHANGES  allowChanges  (none)  Preflight  run  live
--deny-changes  KUBELET_CFG_AGENT_DENY_CHANGES  denyChanges  (none)  Preflight  run  live
--require-drain  KUBELET_CFG_AGENT_REQUIRE_DRAIN  requireDrain  (none)  Preflight  run  live
--guards-off  KUBELET_CFG_AGENT_GUARDS_OFF  guardsOff  (none)  Preflight  run  live
--preflight  KUBELET_CFG_AGENT_PREFLIGHT  preflight  start  Preflight  run  live
--unknown-fields  KUBELET_CFG_AGENT_UNKNOWN_FIELDS  unknownFields  warn  Preflight  run  live
--trial-duration  KUBELET_CFG_AGENT_TRIAL_DURATION  trialDuration  10m  Trial and rollback  run  live
--start-deadline  KUBELET_CFG_AGENT_START_DEADLINE  startDeadline  2m  Trial and rollback  run  live
--health-tolerance  KUBELET_CFG_AGENT_HEALTH_TOLERANCE  healthTolerance  1m  Trial and rollback  run  live
--crash-limit  KUBELET_CFG_AGENT_CRASH_LIMIT  crashLimit  3  Trial and rollback  run  live
--spread  KUBELET_CFG_AGENT_SPREAD  spread  2m  Trial and rollback  run  live
--restarts-per-hour  KUBELET_CFG_AGENT_RESTARTS_PER_HOUR  restartsPerHour  6  Trial and rollback  run  live
--when-refused  KUBELET_CFG_AGENT_WHEN_REFUSED  whenRefused  stay  Trial and rollback  run  live
--evidence  KUBELET_CFG_AGENT_EVIDENCE  evidence  (none)  Trial and rollback  run  live
--publish  KUBELET_CFG_AGENT_PUBLISH  publish  config,condition,annotation,rollout-events  Reports  run  live
--metrics-address  KUBELET_CFG_AGENT_METRICS_ADDRESS  metricsAddress  127.0.0.1:10270  Reports  run  restart
--metrics-textfile  KUBELET_CFG_AGENT_METRICS_TEXTFILE  metricsTextfile  (none)  Reports  run  restart
--log-level  KUBELET_CFG_AGENT_LOG_LEVEL  logLevel  info  Reports  run  live
--log-format  KUBELET_CFG_AGENT_LOG_FORMAT  logFormat  auto  Reports  run  restart
`
