/** `apply`: checks a config, shows what it changes where, keeps its version, and writes it. */

import { EXIT, type ExitCode } from '../../cli/command.ts'
import { renderFindings } from '../../cli/report-text.ts'
import type { Report } from '../../preflight/finding.ts'
import { formatVersion } from '../../preflight/kubelet-version.ts'
import type { PluginCommand, PluginContext, PluginLine } from '../command.ts'
import { type ConfigContent, type FoundConfig, findConfig } from '../config-maps.ts'
import { DRY_RUN, demandConsent, YES } from '../consent.ts'
import { diffContents, versionsOf } from '../diff-text.ts'
import { Failure, Misuse } from '../failure.ts'
import { CONFIG_NAME, textKind } from '../global-options.ts'
import { hashVersion, listVersions, writeVersion } from '../kept-versions.ts'
import { KEY, mergeText } from '../merged-text.ts'
import type { NodeState } from '../node-state.ts'
import { describeReach } from '../reach.ts'
import { type ReadPart, readPart } from '../read-part.ts'
import { describeUnknown, tallyRuns } from '../runs.ts'
import { countNodes, listUsers } from '../users.ts'

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

async function apply(context: PluginContext, line: PluginLine): Promise<ExitCode> {
  const { terminal, namespace } = context
  const { options, args } = line
  const [name = ''] = args
  if ((options.filename ?? '') === '') throw new Misuse('-f is missing: name a file')
  const current = await findConfig(context, name)
  const part = await readPart(context, options.filename ?? '', { of: name, base: options.base ?? '', before: current })
  const users = await listUsers(context, name)
  if ((await checkPart(context, part, users)) === 'refused') return EXIT.failed
  const hash = hashVersion(part)
  if (current !== undefined && hashVersion(current) === hash) {
    terminal.out(`ConfigMap ${namespace}/${name} holds this already, as version ${hash}.\n`)
    return EXIT.fine
  }
  await showChanges(context, { name, current, part, users })
  if (options['dry-run'] === 'true') {
    terminal.out('Nothing was changed.\n')
    return EXIT.fine
  }
  await demandConsent(context, line, `Write ConfigMap ${namespace}/${name}?`)
  await writeVersion(context, name, current, part)
  terminal.out(`Wrote ConfigMap ${namespace}/${name}, version ${hash}. ${describeReach(name, current, users.length)}\n`)
  return EXIT.fine
}

async function checkPart(context: PluginContext, part: ReadPart, users: readonly NodeState[]): Promise<'accepted' | 'refused'> {
  const { terminal } = context
  const merged = await mergeText(context, part)
  if (!merged.ok) throw new Failure(`${part.shown.name}: ${merged.detail}`)
  const versions = versionsOf(users)
  const files = { ...part.data, [KEY]: merged.text }
  let outcome: 'accepted' | 'refused' = 'accepted'
  for (const version of versions.length === 0 ? [undefined] : versions) {
    const report = await context.inspect({ name: part.shown.name, files, key: KEY }, version)
    const whose = version === undefined ? 'the rules of every kubelet' : `the rules of kubelet ${formatVersion(version)}`
    const look = { color: terminal.color, width: terminal.width ?? 80 }
    terminal.out(
      renderFindings(part.shown.name, part.shown.text, placed(report, part).findings, look)
        .map((text) => `${text}\n`)
        .join(''),
    )
    terminal.out(`${part.shown.name}: ${report.outcome} by ${whose}\n`)
    if (report.outcome === 'refused') outcome = 'refused'
  }
  if (merged.isPartial && outcome === 'accepted') terminal.out('Each node checks it again, merged over its own local config.\n')
  return outcome
}

/** A place in a merged text is no place in the file. */
function placed(report: Report, part: ReadPart): Report {
  const findings = report.findings.map((finding) => ({
    ...finding,
    position: part.base === undefined && finding.position !== undefined ? part.shown.place(finding.position) : undefined,
  }))
  return { ...report, findings }
}

interface Change {
  readonly name: string
  readonly current: FoundConfig | undefined
  readonly part: ConfigContent
  readonly users: readonly NodeState[]
}

/** Against what the ConfigMap holds, and against each kept version that nodes still run. */
async function showChanges(context: PluginContext, { name, current, part, users }: Change): Promise<void> {
  const { terminal, namespace } = context
  if (current === undefined) {
    terminal.out(`ConfigMap ${namespace}/${name} is new: ${users.length === 1 ? '1 node asks' : `${users.length} nodes ask`} for it.\n`)
    return
  }
  const [version] = versionsOf(users)
  const kept = (await listVersions(context, name)).filter((each) => hashVersion(each) !== hashVersion(current))
  const tally = await tallyRuns(context, users, [current, ...kept])
  const after = { ...part, title: 'the new version' }
  const run = tally.unknown === 0 ? 'run' : 'known to be run'
  for (const [index, from] of [current, ...kept].entries()) {
    const count = tally.counts[index] ?? 0
    if (count === 0 && from !== current) continue
    const lines = await diffContents(context, { ...from, title: `version ${hashVersion(from)}` }, after, version)
    const whose = users.length === 0 ? 'which no node uses' : `${run} by ${count} of ${countNodes(users.length)}`
    terminal.out(`\n${[`Against version ${hashVersion(from)}, ${whose}:`, '', ...lines].join('\n')}\n`)
  }
  const others = tally.others === 1 ? '1 node runs something else' : `${tally.others} nodes run something else`
  const rest = [tally.others === 0 ? undefined : `${others}, of which no version is kept: not compared.`, describeUnknown(tally)].filter(
    (sentence) => sentence !== undefined,
  )
  terminal.out(`\n${rest.map((sentence) => `${sentence}\n`).join('')}${rest.length === 0 ? '' : '\n'}`)
}
