// SPDX-License-Identifier: Apache-2.0
/** `versions` and `undo`: the kept versions of a config, and the way back to one of them. */

import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { type CommandLine, EXIT, type ExitCode, Failure } from '../../command.ts'
import { demandConsent, YES } from '../../consent.ts'
import { alignColumns, type Cell, headOf, plainText } from '../../terminal.ts'
import { PLUGIN_NAME, type PluginCommand, type PluginContext } from '../command.ts'
import { type FoundConfig, getConfig } from '../config-maps.ts'
import { diffContents, versionsOf } from '../diff-text.ts'
import { hashVersion, listVersions, previousOf, sayVersion, writeVersion } from '../kept-versions.ts'
import { type NodeState, showAge } from '../node-state.ts'
import { CONFIG_NAME, DRY_RUN, OUTPUT_WITH_YAML, print, textKind } from '../options.ts'
import { describeReach, describeUses, judgeBeginnings } from '../reach.ts'
import { describeUnknownRuns, tallyRuns } from '../runs.ts'
import { listUsers } from '../users.ts'

/** In a message. */
const MOST_NAMED = 10

export const versionsCommand: PluginCommand = {
  name: 'versions',
  group: 'Look',
  summary: 'list the kept versions of a config, and how many nodes run each',
  description:
    'Lists the versions that apply and undo have kept, the newest first, and how many nodes run each. A node with an overlay, or ' +
    'with a part over its local config, runs other bytes: it counts only for the version that the ConfigMap holds now. Where a ' +
    'part is over another ConfigMap, that version alone does not tell what the node runs.',
  arguments: [CONFIG_NAME],
  options: [OUTPUT_WITH_YAML],
  examples: [['versions more-pods', 'find the version to go back to']],
  execute: versions,
}

export const undoCommand: PluginCommand = {
  name: 'undo',
  group: 'Change',
  summary: 'go back to an earlier version of a config',
  description:
    'Writes a kept version into the ConfigMap again: the previous one, or the one that --to names. The present content is kept ' +
    'too, so a second undo undoes the first. After an edit by another tool, name the version with --to.',
  arguments: [CONFIG_NAME],
  options: [{ name: 'to', kind: textKind('<hash>'), initial: '', help: 'the version to go back to, or how its hash begins' }, DRY_RUN, YES],
  examples: [
    ['undo more-pods', 'take the latest change back'],
    ['undo more-pods --to 3f9a0c11d2 --yes', 'go to one version, from a script'],
  ],
  execute: undo,
}

async function versions(context: PluginContext, { options, args: [name = ''] }: CommandLine): Promise<ExitCode> {
  const { terminal, wallMs } = context
  const current = await getConfig(context, name)
  const kept = await listVersions(context, name)
  const users = await listUsers(context, name)
  const now = hashVersion(current)
  const isKept = kept.some((version) => hashVersion(version) === now)
  const previous = previousOf(current, kept)
  const distinct = [current, ...kept.filter((version) => hashVersion(version) !== now)]
  const tally = await tallyRuns(context, name, users, distinct)
  const runners = new Map(distinct.map((version, index) => [hashVersion(version), tally.runners[index] ?? []]))
  const rows = [...(isKept ? [] : [current]), ...kept].map((version) => {
    const hash = hashVersion(version)
    const role = hash === now ? 'current' : hash === previous ? 'previous' : ''
    return {
      /** The hash of the content. */
      version: hash,
      resourceVersions: listSeenAs(name, hash === now ? current : version, runners.get(hash) ?? []),
      created: version.created,
      nodes: (runners.get(hash) ?? []).length,
      role,
      kept: hash !== now || isKept,
      base: version.base === undefined ? null : plainText(version.base),
    }
  })
  const document = {
    apiVersion: CONFIG_API_VERSION,
    kind: 'ConfigVersionList',
    config: `${context.namespace}/${name}`,
    nodesUnknown: tally.unknown,
    items: rows,
  }
  const head = headOf('HASH', 'VERSION', 'AGE', 'NODES', 'BASE', '')
  const cells = rows.map(({ version, resourceVersions, created, nodes, role, kept: own, base }): Cell[] => [
    version,
    resourceVersions.join(' ') || '-',
    showAge(created, wallMs()),
    String(nodes),
    base ?? '-',
    own ? role : `${role}, not kept yet`,
  ])
  const notes = [...describeUses({ namespace: context.namespace, name }, users), describeUnknownRuns(tally)].filter(
    (note) => note !== undefined,
  )
  const lines = [...alignColumns([head, ...cells], terminal.color), ...(notes.length > 0 ? ['', ...notes] : [])]
  await print(context, options, document, () => `${lines.join('\n')}\n`)
  return EXIT.fine
}

/** The resourceVersions of the config with this content: the present one, and what nodes tell. */
function listSeenAs(name: string, version: FoundConfig, runners: readonly NodeState[]): readonly string[] {
  const told = runners.flatMap(({ active }) =>
    active === undefined || active === 'local' || active.name !== name ? [] : active.resourceVersion,
  )
  return [...new Set([...(version.name === name ? [version.resourceVersion] : []), ...told])].map(plainText)
}

async function undo(context: PluginContext, line: CommandLine): Promise<ExitCode> {
  const { terminal, namespace } = context
  const { options, args } = line
  const [name = ''] = args
  const current = await getConfig(context, name)
  const target = findTarget(context, name, { current, kept: await listVersions(context, name), wanted: options.to ?? '' })
  const users = await listUsers(context, name)
  const [from, to] = [sayVersion(name, current), sayVersion(name, target)]
  if (hashVersion(current) === hashVersion(target)) {
    terminal.out(`ConfigMap ${namespace}/${name} holds this already, as ${from}.\n`)
    return EXIT.fine
  }
  const lines = await diffContents(context, { ...current, title: from }, { ...target, title: to }, versionsOf(users.nodes)[0])
  terminal.out(`From ${from} to ${to}:\n\n${lines.join('\n')}\n\n`)
  for (const sentence of describeUses({ namespace, name }, users)) terminal.out(`${sentence}\n`)
  if (options['dry-run'] === 'true') {
    terminal.out('Nothing was changed.\n')
    return EXIT.fine
  }
  await demandConsent(context, line, `Write ${to} into ConfigMap ${namespace}/${name}?`)
  const written = await writeVersion(context, name, current, target)
  const reach = describeReach({ namespace, name }, { before: current, after: target }, users, await judgeBeginnings(context, users.parts))
  terminal.out(`Wrote ConfigMap ${namespace}/${name}, now ${written}. ${reach}\n`)
  return EXIT.fine
}

interface Sought {
  readonly current: FoundConfig
  readonly kept: readonly FoundConfig[]
  /** The beginning of the wanted version's hash. Empty: the version before the current one. */
  readonly wanted: string
}

function findTarget({ namespace }: PluginContext, name: string, { current, kept, wanted }: Sought): FoundConfig {
  const hint = `${PLUGIN_NAME} versions ${name} lists them`
  const hash = wanted === '' ? previousOf(current, kept) : wanted
  if (hash === undefined) throw new Failure(`it is not known what ${name} held before: ${adviseTo(kept)}`)
  if (hash === 'stale')
    throw new Failure(
      `ConfigMap ${namespace}/${name} has been changed by something else than apply and undo, so it is not known what it held before: ` +
        adviseTo(kept),
    )
  const found = kept.filter((version) => hashVersion(version).startsWith(hash))
  const [target, ...others] = found
  if (target === undefined) throw new Failure(`no version of ${name} with hash ${hash} is kept; ${hint}`)
  if (others.length > 0) throw new Failure(`the hashes of ${found.length} versions of ${name} begin with ${hash}; ${hint}`)
  return target
}

function adviseTo(kept: readonly FoundConfig[]): string {
  if (kept.length === 0) return 'no version of it is kept'
  const hashes = kept.slice(0, MOST_NAMED).map(hashVersion)
  return `give --to; kept are, the newest first, ${hashes.join(', ')}${kept.length > hashes.length ? ', ...' : ''}`
}
