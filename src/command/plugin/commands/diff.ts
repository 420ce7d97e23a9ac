// SPDX-License-Identifier: Apache-2.0
/** `diff`: what the config that a node is to run changes against what it runs. */

import { parseVersion } from '../../../preflight/kubelet-version.ts'
import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { type ConfigMapRef, describeRef } from '../../../subject/config-source.ts'
import type { NodeShown } from '../../../subject/node-shown.ts'
import { isObject } from '../../../values/is-object.ts'
import { type CommandLine, EXIT, type ExitCode, Failure } from '../../command.ts'
import { describeRefused } from '../../failure.ts'
import { renderOtherwise } from '../check-config.ts'
import type { PluginCommand, PluginContext } from '../command.ts'
import { type FoundConfig, findConfig } from '../config-maps.ts'
import { compareContents } from '../diff-text.ts'
import { listVersions } from '../kept-versions.ts'
import { KEY, mergeText } from '../merged-text.ts'
import { describe, getNode, type NodeState } from '../node-state.ts'
import { OUTPUT_WITH_YAML, print } from '../options.ts'
import { knowContent, runsContent } from '../runs.ts'

export const diffConfigCommand: PluginCommand = {
  name: 'diff',
  group: 'Look',
  summary: 'show what the assigned config changes on a node',
  description:
    'Compares the ConfigMap that the Node asks for with what the node runs, field by field. What the node runs ' +
    'is a kept version, or else what kubelet itself reports (/configz through the API server), with its flags and defaults. ' +
    'Then it says which fields of the ConfigMap kubelet accepts and carries out differently.',
  arguments: [{ placeholder: 'NODE', required: true, completes: 'node' }],
  options: [OUTPUT_WITH_YAML],
  exits: { [EXIT.fine]: 'no difference', [EXIT.failed]: 'they differ', [EXIT.usage]: 'cannot compare, or invalid command line' },
  examples: [['diff worker-1', 'look at what a node would change']],
  execute: diff,
}

async function diff(context: PluginContext, { options, args: [name = ''] }: CommandLine): Promise<ExitCode> {
  const { state } = await getNode(context, name)
  const ref = refOf(state)
  const there: PluginContext = { ...context, namespace: ref.namespace }
  const wanted = await findConfig(there, ref.name)
  if (wanted === undefined) throw new Failure(`ConfigMap ${describeRef(ref)} does not exist`)
  if (ref.kubeletConfigKey !== KEY) throw new Failure(`${name} uses the key ${ref.kubeletConfigKey}: only ${KEY} is compared`)
  const runs = state.active === undefined ? 'an unknown config' : state.active === 'local' ? 'its local config' : describe(state.active)
  const to = `${describeRef(ref)}@${wanted.resourceVersion}`
  const say = (changes: readonly object[], asTable: () => string) =>
    print(context, options, { apiVersion: CONFIG_API_VERSION, kind: 'ConfigDiff', node: name, from: runs, to, changes }, asTable)
  if (await isRunning(there, state, wanted)) {
    await say([], () => `${name} runs what ConfigMap ${describeRef(ref)} holds.\n`)
    return EXIT.fine
  }
  const running = await findRunning(context, state, there, ref.name)
  const before = running ?? (await readConfigz(there, name, wanted, state.shown))
  const how = running === undefined ? 'as kubelet reports it' : `held by ${running.name}`
  const version = parseVersion(state.kubeletVersion)
  const { lines, isSame, changes } = await compareContents(
    there,
    { ...before, title: `what ${name} runs`, node: state.shown },
    { ...wanted, title: describeRef(ref), node: state.shown },
    version,
  )
  const remarks = await renderOtherwise(there, `ConfigMap ${describeRef(ref)}`, wanted, version)
  const below = remarks.length === 0 ? '' : `\n${remarks.join('\n')}`
  await say(changes, () => `${name} runs ${runs} (${how}) -> ${to}\n\n${lines.join('\n')}\n${below}`)
  return isSame ? EXIT.fine : EXIT.failed
}

/** The version that runs, of the config that is asked for or of the one that runs. */
async function findRunning(context: PluginContext, state: NodeState, there: PluginContext, name: string): Promise<FoundConfig | undefined> {
  const { active } = state
  const own = await findRun(there, state, await listVersions(there, name))
  if (own !== undefined || active === undefined || active === 'local' || active.name === name) return own
  const elsewhere: PluginContext = { ...context, namespace: active.namespace }
  const [other, kept] = [await findConfig(elsewhere, active.name), await listVersions(elsewhere, active.name)]
  return findRun(elsewhere, state, [...(other === undefined ? [] : [other]), ...kept])
}

async function findRun(context: PluginContext, state: NodeState, versions: readonly FoundConfig[]): Promise<FoundConfig | undefined> {
  for (const version of versions) if (await isRunning(context, state, version)) return version
  return undefined
}

/** A node that only may run the config does not count: kubelet can be asked. */
async function isRunning(context: PluginContext, state: NodeState, config: FoundConfig): Promise<boolean> {
  return runsContent(state, await knowContent(context, config)) === 'yes'
}

function refOf({ name, asked, assigned }: NodeState): ConfigMapRef {
  if (asked !== undefined && 'problem' in asked) throw new Failure(`what ${name} asks for cannot be used: ${asked.problem}`)
  if (asked !== undefined) return asked.ref
  if (assigned === undefined || assigned === 'local') throw new Failure(`no ConfigMap is assigned to ${name}`)
  return assigned
}

/**
 * Of a part over the local config, only the fields that it and its bases set: the rest is known on
 * the node.
 */
async function readConfigz(context: PluginContext, name: string, wanted: FoundConfig, node: NodeShown | undefined) {
  const { api, yaml } = context
  const answer = await api.request({ method: 'GET', path: `/api/v1/nodes/${name}/proxy/configz` })
  if (answer.kind !== 'ok') {
    const isAbsent = answer.kind === 'refused' && answer.status === 404
    const why = isAbsent ? 'its /configz is not there (404)' : describeRefused({ verb: 'get', resource: 'nodes/proxy', name }, answer)
    throw new Failure(`what ${name} runs is not kept as a version, and kubelet cannot be asked: ${why}`)
  }
  const reported = isObject(answer.object) ? answer.object.kubeletconfig : undefined
  if (!isObject(reported)) throw new Failure(`kubelet on ${name} did not answer with its config (/configz)`)
  const merged = await mergeText(context, wanted, undefined, node)
  const isPartial = merged.ok && merged.isPartial
  // Fields that the part sets to null are not in the merged text.
  const texts = isPartial ? [merged.text, wanted.data[KEY] ?? ''] : []
  const parsed = await Promise.all(texts.map((text) => yaml.first(text)))
  const set = parsed.flatMap((reading) => (reading.ok && isObject(reading.value) ? Object.keys(reading.value) : []))
  const shown = Object.fromEntries(Object.entries(reported).filter(([field]) => !isPartial || set.includes(field)))
  const config = { ...shown, apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
  return { data: { [KEY]: JSON.stringify(config) }, base: undefined }
}
