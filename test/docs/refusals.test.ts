// SPDX-License-Identifier: Apache-2.0
/**
 * Whoever meets a refusal finds what to do: docs/preflight-rules.md has it for each rule of
 * preflight, and docs/runbook.md for refusals before preflight. The words are those of the
 * program.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SWITCHED_CHANNELS, type SwitchedChannel } from '../../src/decision/channels.ts'
import * as texts from '../../src/decision/status-texts.ts'
import { GUARDS } from '../../src/preflight/guards.ts'
import { SETTINGS } from '../../src/settings/settings.ts'
import { type Fleet, resolveChannels } from '../../src/source/channels/resolve.ts'
import { ROOT } from './pages.ts'
import { listPreflightRules } from './preflight-rules.ts'
import { adviceOn, listRows, splitCodes } from './tables.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const preflight = read('docs/preflight-rules.md')
const runbook = read('docs/runbook.md')

t.test('every rule of preflight', async (t) => {
  for (const rule of [...listPreflightRules(), 'policy/deny[N]']) t.ok(adviceOn(preflight, 'Rules', rule), rule)
})

t.test('every guard', async (t) => {
  for (const guard of Object.keys(GUARDS)) t.ok(adviceOn(preflight, 'Guards', guard), guard)
})

interface Refusal {
  readonly says: readonly string[]
  readonly advice: string
}

/** The table of what is refused before preflight is the one with four columns. */
const refusals: readonly Refusal[] = listRows(runbook, 'A config is refused')
  .filter((cells) => cells.length === 4)
  .map(([, , says = '', advice = '']) => ({ says: splitCodes(says), advice }))

/** `...` stands for what varies. */
function isLike(pattern: string, text: string): boolean {
  const parts = pattern.split('...').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.+')}$`).test(text)
}

function findAdvice(text: string): string | undefined {
  return refusals.find(({ says }) => says.some((pattern) => isLike(pattern, text)))?.advice
}

t.test('every refusal in the table has advice, and is in the words of the program', async (t) => {
  t.ok(refusals.length > 8)
  const names = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  // Values that the code inserts vary: constants here are the names of labels and annotations.
  const sources = names.map((name) => read(`src/${name}`)).join('\n')
  const program = sources.replace(/\$\{[^{}]*\}/g, '...')
  for (const { says, advice } of refusals) {
    t.not(advice, '', says.join(', '))
    t.ok(says.length > 0, advice)
    for (const text of says) {
      const fragments = text.split('...').flatMap((part) => part.split(/kubelet-cfg-agent\.[\w.-]+\/[\w-]+/))
      for (const fragment of fragments) t.ok(program.includes(fragment.trim()), `the program says: ${fragment}`)
    }
  }
})

t.test('what is no assignment, of every channel', async (t) => {
  const noFleet: Fleet = { kind: 'known', members: [] }
  const member = (name: string, selector: string, priority?: string) => ({ name, selector, priority, problem: undefined })
  const label = 'kubelet-cfg-agent.node-restriction.kubernetes.io/config'
  const annotate = (value: string) => ({ metadata: { annotations: { 'kubelet-cfg-agent.io/config-source': value } } })
  const plain = { metadata: { labels: {} } }
  const known = (...members: ReturnType<typeof member>[]): Fleet => ({ kind: 'known', members })
  const wrong: Readonly<Record<SwitchedChannel, readonly (readonly [node: object, fleet: Fleet])[]>> = {
    'config-source': [
      [{ metadata: {}, spec: { configSource: {} } }, noFleet],
      [{ metadata: {}, spec: { configSource: { configMap: { namespace: 'a', name: 'b' } } } }, noFleet],
    ],
    label: [[{ metadata: { labels: { [label]: 'a/b' } } }, noFleet]],
    annotation: [
      [annotate('nowhere'), noFleet],
      [annotate('{'), noFleet],
      [annotate('{}'), noFleet],
    ],
    selector: [
      [plain, known(member('a', ''), member('b', ''))],
      [plain, known(member('a', '==='))],
      [plain, known(member('a', '', 'high'))],
      [plain, { kind: 'unreadable', reason: 'forbidden', detail: '403' }],
    ],
  }
  const settings = { channels: SWITCHED_CHANNELS, namespace: 'kube-system', key: 'kubelet', defaultConfigMap: undefined }
  const malformed = resolveChannels({ metadata: { labels: 1 } }, settings, noFleet)
  const resolved = Object.values(wrong).flatMap((facts) => facts.map(([node, fleet]) => resolveChannels(node, settings, fleet)))
  for (const resolution of [malformed, ...resolved]) {
    if (resolution.kind !== 'invalid') throw new Error(`this is an assignment: ${JSON.stringify(resolution)}`)
    t.ok(findAdvice(resolution.detail), resolution.detail)
  }
})

t.test('every error that the status names by a text of its own', async (t) => {
  const pages = [runbook, ...['operations', 'parts', 'overlay'].map((name) => read(`docs/${name}.md`))].join('\n')
  const errors = Object.entries(texts).flatMap(([name, text]) => (name.endsWith('_ERROR') && typeof text === 'string' ? [text] : []))
  t.ok(errors.length > 10)
  for (const text of errors) t.ok(pages.includes(texts.withoutLogHint(text)) || findAdvice(text), text)
})

t.test('a path that systemd could not read back', async (t) => {
  const parsed = SETTINGS.dynamicConfigDir.kind.parse('/var/lib/a b')
  if (parsed.ok) throw new Error('a blank is no problem')
  t.ok(
    refusals.some(({ says }) => says.some((pattern) => isLike(`...${pattern}`, parsed.detail))),
    parsed.detail,
  )
})

t.test('what has no advice is found', async (t) => {
  const text = '# A\n## B\n| Reason | What | Do |\n|---|---|---|\n| `one` | x | y |\n| `two` | x | |\n| `four` | x |\n'
  t.equal(adviceOn(text, 'B', 'one'), 'y')
  for (const name of ['two', 'three', 'four']) t.equal(adviceOn(text, 'B', name), undefined, name)
  t.equal(findAdvice('something else'), undefined)
})
