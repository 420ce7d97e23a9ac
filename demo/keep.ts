/** `--keep`: what a person can try on the world that was left running. Every command works as it is printed. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BROKEN_CONFIG, crashingConfig, podsConfig } from './configs.ts'
import { assignmentPatch, KEY, NAMESPACE } from './person.ts'
import { NODE, type World } from './world.ts'

/** Writes a kubeconfig and some configs beside the world's own files. */
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
This world stays until Ctrl-C. To play with it, in another terminal:

  export KUBECONFIG=${kubeconfig} KUBELET_CFG_AGENT_CONFIG=${world.settingsFile}
  kubectl get node ${NODE} -o json | jq .status.config
  kubectl get events --field-selector involvedObject.name=${NODE}

Break the config in place, then mend it (or kubectl -n ${NAMESPACE} edit configmap ${configMap}):
  ${replace(broken)}
  ${replace(edited)}

Assign one that kills kubelet, then go back to the other, or to the local config:
  kubectl -n ${NAMESPACE} create configmap crashing --from-file=${KEY}=${crashing}
  kubectl patch node ${NODE} -p '${assignmentPatch('crashing')}'
  kubectl patch node ${NODE} -p '${assignmentPatch(configMap)}'
  kubectl patch node ${NODE} -p '${assignmentPatch(undefined)}'

Look from the node's side; besides, there are pause, resume, rollback, retry and reset:
  node ${program} status
  node ${program} history
  curl -s localhost:${world.healthzPort}/configz | jq .kubeletconfig
  find ${world.stateDir}

`
}
