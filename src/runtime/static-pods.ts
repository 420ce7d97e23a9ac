/** The static pods from files among those that the container runtime has. Pure. */
import type { StaticPod } from '../decision/evidence-facts.ts'
import type { RuntimePods } from '../decision/runtime-pods.ts'

/**
 * One for each config hash. Of a pod whose sandbox is being replaced, the runtime has several. A pod
 * runs if one of them is ready and has a running container: a pod whose containers crash and come
 * back is given the benefit of the doubt by whoever asks more than once.
 */
export function findStaticPods({ sandboxes, containers }: RuntimePods): readonly StaticPod[] {
  const live = new Set(containers.filter(({ state }) => state === 'running').map(({ sandboxId }) => sandboxId))
  const found = new Map<string, StaticPod>()
  for (const { id, state, namespace, name, configSource, configHash } of sandboxes) {
    if (configSource !== 'file' || configHash === undefined) continue
    const isRunning = (state === 'ready' && live.has(id)) || found.get(configHash)?.isRunning === true
    found.set(configHash, { hash: configHash, name: `${namespace}/${name}`, isRunning })
  }
  return [...found.values()]
}
