// SPDX-License-Identifier: Apache-2.0
/**
 * The reference tables of the documents are complete, and name nothing that the code does not have.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { PHASES } from '../../src/decision/phases.ts'
import type { TransitionKind } from '../../src/decision/records.ts'
import { failureError } from '../../src/decision/status-texts.ts'
import { CAUSES } from '../../src/evidence/pods.ts'
import { LAST_IN_TABLES, listLeaves, NEWEST_MINOR } from '../../src/kubelet/fields.ts'
import { RISKS } from '../../src/preflight/change/change.ts'
import { ROWS } from '../../src/preflight/change/field-rows.ts'
import { GUARDS } from '../../src/preflight/guards.ts'
import { COVERED } from '../../src/preflight/kubelet-version.ts'
import { HARMLESS_FIELDS } from '../../src/preflight/policy/check-policy.ts'
import { matchesPattern } from '../../src/preflight/policy/patterns.ts'
import { eventOf } from '../../src/report/events.ts'
import { Metrics } from '../../src/report/metrics.ts'
import { CONDITION_REASONS, type ConditionReason, describeDegraded } from '../../src/report/reasons.ts'
import { PREFLIGHT_SETTINGS } from '../../src/settings/preflight-settings.ts'
import { fileKey, type SettingName } from '../../src/settings/settings.ts'
import { ROOT, readPages } from './pages.ts'
import { listPreflightRules } from './preflight-rules.ts'
import { COMMAND_NAMES } from './program.ts'
import { listFirstCells, listRows, splitCodes } from './tables.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const sorted = (names: Iterable<string>) => [...new Set(names)].sort()

t.test('every metric with its type', async (t) => {
  const { body } = await new Metrics({ version: '0' }).render()
  const exposed = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
  const rows = listRows(read('docs/status.md'), 'Metrics').filter(([name = '']) => /^`(kubelet|process)_/.test(name))
  t.ok(exposed.length > 10)
  t.same(sorted(rows.map(([name = '', type]) => `${splitCodes(name)[0]} ${type}`)), sorted(exposed))
})

t.test('every reason of the condition, under its status', async (t) => {
  const rows = listRows(read('docs/runbook.md'), "The condition's reasons").filter(([reason]) => reason !== '`AsExpected`')
  const below = (status: string) => sorted(rows.flatMap(([reason = '', told = '']) => (told.startsWith(status) ? splitCodes(reason) : [])))
  for (const [status, reasons] of Object.entries(CONDITION_REASONS)) t.same(below(status), sorted(reasons), status)
  const isDegraded = (reason: ConditionReason) => describeDegraded({ status: 'False', reason, message: '' }).status === 'True'
  const { False } = CONDITION_REASONS
  t.same(below('False, look at it'), sorted(False.filter(isDegraded)), 'where KubeletConfigDegraded is True, and nowhere else')
})

t.test('every reason of an event, with its type', async (t) => {
  const kinds: Readonly<Record<TransitionKind, true>> = {
    assigned: true,
    restarting: true,
    promoted: true,
    rejected: true,
    'rolled-back': true,
    retrying: true,
    'set-aside': true,
    'download-failed': true,
    invalid: true,
    synced: true,
  }
  const events = Object.keys(kinds).flatMap(
    (kind) => eventOf({ atNs: '1', kind: kind as TransitionKind, from: 'local', to: 'local', why: '' }, 'n') ?? [],
  )
  const rows = listRows(read('docs/status.md'), 'Events').filter(([reason = '']) => reason.startsWith('`Kubelet'))
  t.same(
    sorted(rows.map(([reason = '', type]) => `${splitCodes(reason)[0]} ${type}`)),
    sorted(events.map(({ reason, type }) => `${reason} ${type}`)),
  )
})

t.test('every reason for which a pod fails, with the fields that can cause it', async (t) => {
  t.same(
    listRows(read('docs/evidence.md'), 'Pods that fail').map((cells) => cells.map(splitCodes)),
    CAUSES.map(({ reasons, fields }) => [reasons, fields]),
  )
  const leaves = listLeaves().map(([name]) => name)
  for (const field of CAUSES.flatMap(({ fields }) => fields)) {
    const [top = ''] = field.split('.')
    t.ok(
      leaves.some((leaf) => leaf === field || new RegExp(`^${top.replaceAll('*', '.*')}$`).test(leaf)),
      field,
    )
  }
})

/** The members of a union of texts, which no running program can list. */
function listUnion(path: string, type: string): readonly string[] {
  const file = ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true)
  const alias = file.statements.filter(ts.isTypeAliasDeclaration).find(({ name }) => name.text === type)
  if (alias === undefined || !ts.isUnionTypeNode(alias.type)) throw new Error(`${path} declares no union ${type}`)
  return alias.type.types.map((member) => member.getText().replace(/'/g, ''))
}

t.test('every phase', async (t) => {
  t.same(sorted(listFirstCells(read('docs/status.md'), 'On the node')), sorted([...Object.keys(PHASES), 'due']))
})

t.test('every way in which the wiring may be broken', async (t) => {
  const problems = listUnion('src/subject/unit-state.ts', 'WiringProblem')
  t.ok(problems.length > 4)
  t.same(sorted(listFirstCells(read('docs/runbook.md'), 'Wiring')), sorted(problems))
})

t.test('every rule of preflight', async (t) => {
  const documented = listFirstCells(read('docs/preflight-rules.md'), 'Rules').filter((rule) => rule !== 'policy/deny[N]')
  t.same(sorted(documented), listPreflightRules())
})

t.test('the kubelets that the rules cover', async (t) => {
  t.match(read('docs/preflight.md'), new RegExp(`^- The rules cover ${COVERED}\\. `, 'm'))
  if (LAST_IN_TABLES.minor === NEWEST_MINOR) return
  const next = `1.${LAST_IN_TABLES.minor} is not released: \`fields\` judges by ${LAST_IN_TABLES.version}. It refuses what 1.${NEWEST_MINOR} refuses too`
  t.ok(read('docs/preflight.md').includes(`\n- ${next}`), next)
})

t.test('every guard', async (t) => {
  t.same(listFirstCells(read('docs/preflight-rules.md'), 'Guards'), Object.keys(GUARDS))
})

t.test('every risk, in the order of the code', async (t) => {
  t.same(listFirstCells(read('docs/preflight-rules.md'), 'Risks'), Object.keys(RISKS))
})

t.test('every setting of preflight', async (t) => {
  const pages = read('docs/preflight.md') + read('docs/preflight-rules.md')
  for (const name of Object.keys(PREFLIGHT_SETTINGS)) t.match(pages, new RegExp(`\`${fileKey(name as SettingName)}\\b`), name)
})

t.test('everything that the guarded policy allows', async (t) => {
  const [, said = ''] = /`changePolicy: guarded` allows changes of these fields alone: ([\s\S]*?)\.\n/.exec(read('docs/preflight.md')) ?? []
  const patterns = splitCodes(said)
  const covered = [...ROWS].filter(([name, { risk }]) => patterns.some((text) => matchesPattern(text, { path: name.split('.'), risk })))
  t.same(sorted(covered.map(([name]) => name)), sorted(Object.keys(HARMLESS_FIELDS)))
})

t.test('every manifest with rights, and every policy', async (t) => {
  const rights = new Set(
    readPages()
      .find(({ path }) => path === 'docs/rights.md')
      ?.inlineCode.map(({ text }) => text),
  )
  for (const folder of ['deploy/rbac', 'deploy/admission', 'deploy/serviceaccount'])
    for (const name of readdirSync(join(ROOT, folder))) t.ok(rights.has(`${folder}/${name}`), `${folder}/${name}`)
})

t.test('every command', async (t) => {
  const mentioned = readPages()
    .flatMap(({ inlineCode, blocks }) => [...inlineCode, ...blocks].map(({ text }) => text))
    .join('\n')
  for (const name of COMMAND_NAMES) t.match(mentioned, new RegExp(`kubelet-cfg-agent ${name}\\b`), name)
})

t.test('every folder of src/', async (t) => {
  const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const named = listFirstCells(read('CONTRIBUTING.md'), 'The way around the code')
  t.same(sorted(named.filter((name) => /^src\/\w+\/$/.test(name))), sorted(folders.map(({ name }) => `src/${name}/`)))
  const floors = listRows(read('docs/design.md'), 'Floors').flatMap(([, folder = '']) => splitCodes(folder))
  t.same(sorted(floors.filter((name) => !name.startsWith('src/'))), sorted(folders.map(({ name }) => name)))
})

t.test("the README's piece of the demo has the titles and errors that the demo prints", async (t) => {
  const [demo] =
    readPages()
      .find(({ path }) => path === 'README.md')
      ?.blocks.filter(({ info }) => info === 'text') ?? []
  const lines = demo?.text.split('\n') ?? []
  const titles = lines.flatMap((line) => /^\d+\. (.*)$/.exec(line)?.[1] ?? [])
  t.equal(titles.length, 1)
  const stories = read('demo/story.ts') + read('demo/fleet-story.ts')
  for (const title of titles) t.ok(stories.includes(title), title)
  const errors = lines.flatMap((line) => / status {3}error: (.*)$/.exec(line)?.[1] ?? [])
  t.same(errors, [failureError({ reason: 'crash-loop' }, 'last-known-good')])
})

/** Output of the program that pages quote and no test runs: the parts that never vary. */
const QUOTED: readonly string[] = [
  ' gets its config through ',
  'runs the checkpoint ',
  'root; may write ',
  'names a cgroup that does not exist: kubelet does not start',
  'kubelet uses it at its next start',
  'config failed, rolling back from ',
  ' runs in place of what is assigned',
  'verdict confirmed: kubelet is healthy without this config',
  ' has passed its trial',
  'was refused before a restart',
  'waiting for the assignment: ',
  "kubelet's running config differs from its config file: ",
  ' must not change on this node: ',
  ' is not proven',
  'Kubelet was not restarted.',
]

t.test('what pages quote of the program is what it still says', async (t) => {
  const pages = readPages()
    .flatMap(({ inlineCode, blocks }) => [...inlineCode, ...blocks].map(({ text }) => text))
    .join('\n')
  const names = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const sources = names.map((name) => read(`src/${name}`)).join('\n')
  for (const text of QUOTED) {
    t.ok(pages.includes(text), `a page quotes: ${text}`)
    t.ok(sources.includes(text), `the program says: ${text}`)
  }
})

t.test('what a table leaves out, or has too much, is found', async (t) => {
  const text =
    '# Page\n## One\n| Name | What |\n|---|---|\n| `a`, `b` | x |\n| `c` | y \\| z |\n\n```text\n| `d` |\n```\n### Within\n| `e` | |\n## Two\n| `f` | |\n'
  t.same(listFirstCells(text, 'One'), ['a', 'b', 'c', 'e'])
  t.same(listRows(text, 'One')[1], ['`c`', 'y \\| z'])
  t.same(listFirstCells(text, 'Two'), ['f'])
  t.throws(() => listFirstCells(text, 'Three'), /no heading "Three"/)
})
