/** `--keep`: prints commands to try on the running demo. Each works as printed. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assignmentPatch, KEY, NAMESPACE } from './administrator.ts'
import { BROKEN_CONFIG, crashingConfig, podsConfig } from './configs.ts'
import { NODE, type World } from './world.ts'

/** Writes a kubeconfig and some configs into the demo's directory. */
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
  const replace = (path: string) =>
    `kubectl -n ${NAMESPACE} create configmap ${configMap} --from-file=${KEY}=${path} --dry-run=client -o yaml | kubectl replace -f -`
  return `
The demo keeps running until Ctrl-C. Try these commands in another terminal:

  export KUBECONFIG=${kubeconfig} KUBELET_CFG_AGENT_CONFIG=${world.settingsFile}
  kubectl get node ${NODE} -o json | jq .status.config
  kubectl get events --field-selector involvedObject.name=${NODE}

Break the config in place, then repair it (or kubectl -n ${NAMESPACE} edit configmap ${configMap}):
  ${replace(broken)}
  ${replace(edited)}

Assign a config that makes kubelet exit, then return to the first one, or to the local config. This API
server is of the old kind, which takes spec.configSource; on clusters of today assign by the label:
  kubectl -n ${NAMESPACE} create configmap crashing --from-file=${KEY}=${crashing}
  kubectl patch node ${NODE} -p '${assignmentPatch('crashing')}'
  kubectl patch node ${NODE} -p '${assignmentPatch(configMap)}'
  kubectl patch node ${NODE} -p '${assignmentPatch(undefined)}'

Inspect the node; other commands are pause, resume, rollback, retry and reset:
  node ${program} status
  node ${program} history
  curl -s localhost:${world.healthzPort}/configz | jq .kubeletconfig
  find ${world.stateDir}

`
}
