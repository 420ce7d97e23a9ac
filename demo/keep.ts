// SPDX-License-Identifier: Apache-2.0
/** `--keep`: prints commands to try on the running demo. Each works as printed. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { COMPLETER, PLUGIN } from '../src/command/plugin/plugin-name.ts'
import { assignmentPatch, KEY, NAMESPACE } from './administrator.ts'
import { BROKEN_CONFIG, crashingConfig, podsConfig } from './configs.ts'
import { NODE, type World } from './world.ts'

/** The agent as installed, and the two names under which it is the kubectl plugin. */
const NAMES = ['kubelet-cfg-agent', PLUGIN, COMPLETER]

/** Writes a kubeconfig, some configs and links to the program into the demo's directory. */
export function prepareToPlay(world: World, configMap: string, program: string): string {
  const put = (name: string, text: string) => {
    const path = join(world.directory, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const kubeconfig = put('admin.conf', world.api.kubeconfig())
  const edited = put('edited.yaml', podsConfig(world.healthzPort, 30))
  const broken = put('broken.yaml', BROKEN_CONFIG)
  const crashing = put('crashing.yaml', crashingConfig(world.healthzPort))
  const bin = join(world.directory, 'bin')
  mkdirSync(bin)
  for (const name of NAMES) symlinkSync(resolve(program), join(bin, name))
  const other = put('other.yaml', podsConfig(world.healthzPort, 40))
  // kubectl would validate it by a schema, which this API server does not serve.
  const replace = (path: string) =>
    `kubectl -n ${NAMESPACE} create configmap ${configMap} --from-file=${KEY}=${path} --dry-run=client -o yaml | kubectl replace --validate=false -f -`
  return `
The demo keeps running until Ctrl-C. Try these commands in another terminal:

  export KUBECONFIG=${kubeconfig} KUBELET_CFG_AGENT_CONFIG=${world.settingsFile} PATH=${bin}:$PATH
  kubectl get node ${NODE} -o json | jq .status.config
  kubectl get events --field-selector involvedObject.name=${NODE}

Break the config in place, then repair it:
  ${replace(broken)}
  ${replace(edited)}

Look at the node and change its config with the kubectl plugin:
  kubectl kubelet-config get
  kubectl kubelet-config why ${NODE}
  kubectl kubelet-config apply -f ${other} ${configMap}
  kubectl kubelet-config versions ${configMap}
  kubectl kubelet-config undo ${configMap}

Assign a config that makes kubelet exit, then return to the first one, or to the local config. This API
server is of the old kind, which takes spec.configSource; on clusters of today assign by the label:
  kubectl -n ${NAMESPACE} create configmap crashing --from-file=${KEY}=${crashing}
  kubectl patch node ${NODE} -p '${assignmentPatch('crashing')}'
  kubectl patch node ${NODE} -p '${assignmentPatch(configMap)}'
  kubectl patch node ${NODE} -p '${assignmentPatch(undefined)}'

Inspect the node; other commands are pause, resume, rollback, retry and reset:
  kubelet-cfg-agent status
  kubelet-cfg-agent history
  curl -s localhost:${world.healthzPort}/configz | jq .kubeletconfig
  find ${world.stateDir}

`
}
