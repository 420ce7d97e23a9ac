// SPDX-License-Identifier: Apache-2.0
/**
 * The Helm chart and the components of kustomize agree with deploy/ and with the chart's schema,
 * without helm: test/real/chart has what real ones make of them.
 */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { SETTING_ROWS } from '../../scripts/command-line-table.ts'
import { CHART, chartFiles, SCHEMA } from '../../scripts/docs/chart/chart.ts'
import { COMPONENTS, KUSTOMIZE, kustomizeFiles } from '../../scripts/docs/chart/kustomize.ts'
import { LEFT_OUT, TEMPLATES } from '../../scripts/docs/chart/templates.ts'
import { defaultValues, listValues, type Schema, valuesTable } from '../../scripts/docs/chart/values.ts'
import { replaceTable } from '../../scripts/docs/replace-table.ts'

const read = (path: string) => readFileSync(path, 'utf8')
const list = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? `${entry.parentPath}/${entry.name}` : [],
  )
const schema = JSON.parse(read(SCHEMA)) as Schema
const README = `${CHART}/README.md`
const BY_HAND = ['values.schema.json', ...['_helpers.tpl', 'checks.yaml', 'NOTES.txt'].map((name) => `templates/${name}`)].map(
  (name) => `${CHART}/${name}`,
)

t.test('chart and components are up to date, and have no other file: npm run docs writes them', async (t) => {
  const files = { ...chartFiles(read), ...kustomizeFiles(read) }
  for (const [path, text] of Object.entries(files)) t.equal(read(path), text, path)
  t.same([...list(CHART), ...list(KUSTOMIZE)].sort(), [...Object.keys(files), README, ...BY_HAND].sort())
})

t.test('each manifest for a cluster is in the chart and in a component, or left out for a reason', async (t) => {
  const folders = ['rbac', 'admission', 'monitoring', 'serviceaccount', 'install'].flatMap((folder) =>
    readdirSync(`deploy/${folder}`).map((name) => `${folder}/${name}`),
  )
  const manifests = folders.filter((path) => path.endsWith('.yaml')).sort()
  const leftOut = Object.keys(LEFT_OUT)
  t.same([...TEMPLATES.map(({ path }) => path), ...leftOut].sort(), manifests)
  t.same([...Object.values(COMPONENTS).flatMap(({ files }) => files), ...leftOut].sort(), manifests)
})

t.test('a manifest without what a value replaces stops npm run docs', async (t) => {
  const without = (path: string) => (path === 'deploy/rbac/rollout.yaml' ? read(path).replace('node-config-rollout', 'other') : read(path))
  t.throws(() => chartFiles(without), /deploy\/rbac\/rollout\.yaml has nothing like \[node-config-rollout\]/)
  const longer = (path: string) => (path === 'deploy/rbac/rollout.yaml' ? `${read(path)}---\nkind: Role\n` : read(path))
  t.throws(() => chartFiles(longer), /deploy\/rbac\/rollout\.yaml has 3 documents/)
})

t.test('values.yaml has the default of each value, which is described', async (t) => {
  const values = listValues(schema)
  t.ok(values.length > 30)
  const defaults = parse(defaultValues(schema)) as object
  for (const { path, initial, description } of values) {
    t.same(
      path.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], defaults),
      initial,
      path.join('.'),
    )
    t.match(description, /^[A-Z].*\.$/, path.join('.'))
  }
  t.same(
    Object.keys(defaults),
    Object.keys(schema.properties ?? {}).filter((name) => name !== 'global'),
  )
})

t.test('the schema takes no key that is not there', async (t) => {
  const findOpen = (value: unknown, path: string): readonly string[] => {
    if (typeof value !== 'object' || value === null) return []
    const isOpen = 'properties' in value && !('additionalProperties' in value && value.additionalProperties === false)
    return [...(isOpen ? [path] : []), ...Object.entries(value).flatMap(([key, below]) => findOpen(below, `${path}/${key}`))]
  }
  t.same(findOpen(schema, ''), [])
  const settings = schema.properties?.installer?.properties?.settings?.properties ?? {}
  t.same(
    Object.keys(settings),
    SETTING_ROWS.flatMap(({ key }) => key ?? []),
  )
})

t.test('each value is used, and no template uses another', async (t) => {
  const texts = list(`${CHART}/templates`).map(read).join('\n')
  const used = new Set([...texts.matchAll(/\.Values\.([A-Za-z.]+)/g)].map(([, path = '']) => path.replace(/\.$/, '')))
  const values = listValues(schema).map(({ path }) => path.join('.'))
  t.same(
    [...used].filter((path) => !values.some((value) => value === path || value.startsWith(`${path}.`))),
    [],
  )
  t.same(
    values.filter((value) => ![...used].some((path) => value === path || value.startsWith(`${path}.`))),
    [],
  )
})

t.test('the README of the chart has the table of the values', async (t) => {
  const page = read(README)
  t.equal(page, replaceTable(page, valuesTable(schema)))
  t.throws(() => replaceTable('a page without a table', ''), /no place for a table/)
})
