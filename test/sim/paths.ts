// SPDX-License-Identifier: Apache-2.0
/** Where things are on a simulated node. */
export const DIRECTORY = '/var/lib/kubelet-cfg-agent'
export const RUNTIME_DIRECTORY = '/run/kubelet-cfg-agent'
export const ENV_FILE = `${DIRECTORY}/kubelet.env`
export const LOCAL_PATH = '/var/lib/kubelet/config.yaml'
export const DROP_IN_DIRECTORY = '/etc/kubernetes/kubelet.conf.d'
export const DROP_IN_PATH = `${DROP_IN_DIRECTORY}/90-kubelet-cfg-agent.conf`
