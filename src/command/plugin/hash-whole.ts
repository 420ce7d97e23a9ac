/**
 * The hash by which a rollout knows a config, with the bases of a part. A base that cannot be read
 * leaves no hash: one without it would be that of another content. Pure but for the API.
 */
import type { Bases, FoundConfigMap, UnavailableReason } from '../../decision/desired.ts'
import { hashObject } from '../../decision/rollout-hash.ts'
import { readBases } from '../../source/base-chain.ts'
import { readBase } from '../../source/channels/base-annotation.ts'
import { readConfigMapOnce } from '../../source/read-once.ts'
import type { PluginContext } from './command.ts'
import type { FoundConfig } from './config-maps.ts'
import { Failure, Outage } from './failure.ts'
import { KEY } from './merged-text.ts'

/** @throws Failure, or Outage where it may pass */
export async function hashWhole({ api, namespace }: PluginContext, config: FoundConfig): Promise<string> {
  const { name, uid, resourceVersion, data, annotations } = config
  const base = readBase({ metadata: { annotations } })
  const own: FoundConfigMap = { kind: 'found', uid, resourceVersion, data, ...(base && { base }) }
  const ref = { namespace, name, kubeletConfigKey: KEY }
  const whole = await readBases({ ref }, own, (under) => readConfigMapOnce(api, under))
  if (whole.bases !== undefined) checkBases(`ConfigMap ${namespace}/${name}`, whole.bases)
  return hashObject(whole, KEY)
}

function checkBases(of: string, { views, problem }: Bases): void {
  for (const { ref, object } of views) {
    if (object.kind !== 'unavailable') continue
    const what = `the base ConfigMap ${ref.namespace}/${ref.name} of ${of}`
    const message = describeUnread(what, ref.namespace, object)
    throw object.reason === 'unreachable' ? new Outage(message) : new Failure(message)
  }
  if (problem !== undefined) throw new Failure(`${of}: ${problem}`)
}

function describeUnread(
  what: string,
  namespace: string,
  { reason, detail }: { readonly reason: UnavailableReason; readonly detail: string },
): string {
  switch (reason) {
    case 'not-found':
      return `${what} does not exist: create it, or correct the annotation that names it`
    case 'forbidden':
      return `${what} may not be read: grant get of configmaps in the namespace ${namespace} (${detail})`
    case 'unauthenticated':
      return `${what} cannot be read: the API server does not accept the credentials of this context (${detail})`
    case 'malformed':
      return `${what} is malformed: ${detail}`
    case 'unreachable':
      return `${what} cannot be read: ${detail}`
  }
}
