// SPDX-License-Identifier: Apache-2.0
/** `apply`: checks a config, shows what it changes where, keeps its version, and writes it. */

import { type CommandLine, EXIT, type ExitCode, Misuse } from '../../command.ts'
import { demandConsent, YES } from '../../consent.ts'
import { checkChange, readPart } from '../check-config.ts'
import type { PluginCommand, PluginContext } from '../command.ts'
import type { ConfigName } from '../config-index.ts'
import { type ConfigContent, type FoundConfig, findConfig } from '../config-maps.ts'
import { diffContents, versionsOf } from '../diff-text.ts'
import { hashVersion, listVersions, sayVersion, writeVersion } from '../kept-versions.ts'
import type { Supposed } from '../merged-text.ts'
import { CONFIG_NAME, DRY_RUN, textKind } from '../options.ts'
import { checkKeys, describeOtherKeys, describeReach, describeUses, judgeBeginnings, usersOfChange } from '../reach.ts'
import { describeUnknownRuns, tallyRuns } from '../runs.ts'
import { countNodes, listUsers, type Users } from '../users.ts'

export const applyCommand: PluginCommand = {
  name: 'apply',
  group: 'Change',
  summary: 'check a config, show what it changes, and write it',
  description:
    'Checks a config or a part with the rules of preflight that need no node, for each version of kubelet that uses it. Shows ' +
    'what it changes against what those nodes run. Then keeps the version as an immutable ConfigMap NAME-HASH and writes NAME. ' +
    'A refused config is not written.',
  arguments: [CONFIG_NAME],
  options: [
    {
      name: 'filename',
      short: 'f',
      kind: textKind('<path>'),
      initial: '',
      help: 'a config, a part, or the manifest of a ConfigMap; - is standard input',
    },
    {
      name: 'base',
      kind: textKind('<base>'),
      initial: '',
      help: 'what a part is merged over: local, or NAMESPACE/NAME[:KEY]',
    },
    DRY_RUN,
    YES,
  ],
  examples: [
    ['apply -f part.yaml more-pods', 'check a part, look at what it changes, and write it'],
    ['apply -f part.yaml more-pods --dry-run', 'only look'],
    ['apply -f part.yaml --base kube-system/more-pods gpu-nodes --yes', 'write a part over another config from a script'],
  ],
  execute: apply,
}

async function apply(context: PluginContext, line: CommandLine): Promise<ExitCode> {
  const { terminal, namespace } = context
  const { options, args } = line
  const [name = ''] = args
  if ((options.filename ?? '') === '') throw new Misuse('-f is missing: name a file')
  const current = await findConfig(context, name)
  const part = await readPart(context, options.filename ?? '', { of: name, base: options.base ?? '', before: current })
  const users = await listUsers(context, name)
  const config = { namespace, name }
  for (const sentence of [...describeUses(config, users), describeOtherKeys(config, users)])
    if (sentence !== undefined) terminal.out(`${sentence}\n`)
  const change = { before: current, after: part }
  const affected = usersOfChange(users, change)
  const supposed = { after: suppose(config, part, current), before: current && suppose(config, current, current) }
  if ((await checkChange(context, { part, ...supposed, users: affected })) === 'refused') return EXIT.failed
  if (current !== undefined && hashVersion(current) === hashVersion(part)) {
    terminal.out(`ConfigMap ${namespace}/${name} holds this already, as ${sayVersion(name, current)}.\n`)
    return EXIT.fine
  }
  await showChanges(context, { name, current, part, affected, isUsed: users.nodes.length > 0 })
  if (options['dry-run'] === 'true') {
    terminal.out('Nothing was changed.\n')
    return EXIT.fine
  }
  checkKeys(config, users, change)
  await demandConsent(context, line, `Write ConfigMap ${namespace}/${name}?`)
  const written = await writeVersion(context, name, current, part)
  const reach = describeReach(config, change, users, await judgeBeginnings(context, users.parts))
  terminal.out(`Wrote ConfigMap ${namespace}/${name}, now ${written}. ${reach}\n`)
  return EXIT.fine
}

interface Change {
  readonly name: string
  readonly current: FoundConfig | undefined
  readonly part: ConfigContent
  readonly affected: Users
  /** By whatever key. */
  readonly isUsed: boolean
}

/** Against what the ConfigMap holds, and against each kept version that nodes still run. */
async function showChanges(context: PluginContext, { name, current, part, affected, isUsed }: Change): Promise<void> {
  const { terminal, namespace } = context
  const { nodes, gap } = affected
  if (current === undefined) {
    terminal.out(`ConfigMap ${namespace}/${name} is new: ${nodes.length === 1 ? '1 node asks' : `${nodes.length} nodes ask`} for it.\n`)
    return
  }
  const [version] = versionsOf(nodes)
  const kept = (await listVersions(context, name)).filter((each) => hashVersion(each) !== hashVersion(current))
  const tally = await tallyRuns(context, name, affected, [current, ...kept])
  const after = { ...part, title: 'the new version' }
  const run = tally.unknown === 0 ? 'run' : 'known to be run'
  for (const [index, from] of [current, ...kept].entries()) {
    const count = tally.runners[index]?.length ?? 0
    if (count === 0 && from !== current) continue
    const lines = await diffContents(context, { ...from, title: sayVersion(name, from) }, after, version)
    const unused = gap === undefined ? ', which no node uses' : ', which no node is known to use'
    const whose = nodes.length > 0 ? `, ${run} by ${count} of ${countNodes(nodes.length)}` : isUsed ? '' : unused
    terminal.out(`\n${[`Against ${sayVersion(name, from)}${whose}:`, '', ...lines].join('\n')}\n`)
  }
  const others = tally.others === 1 ? '1 node runs something else' : `${tally.others} nodes run something else`
  const rest = [
    tally.others === 0 ? undefined : `${others}, which is not among the kept versions: not compared.`,
    describeUnknownRuns(tally),
  ].filter((sentence) => sentence !== undefined)
  terminal.out(`\n${rest.map((sentence) => `${sentence}\n`).join('')}${rest.length === 0 ? '' : '\n'}`)
}

function suppose(config: ConfigName, content: ConfigContent, current: FoundConfig | undefined): Supposed {
  return { ...config, content, annotations: current?.annotations ?? {} }
}
