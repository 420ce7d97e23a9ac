// SPDX-License-Identifier: Apache-2.0
/**
 * The forms of issues have what GitHub asks of them: it shows none of a form with a mistake. Their
 * links and commands are checked as those of every page.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { listForms, ROOT } from './pages.ts'

interface Form {
  readonly name: string
  readonly description: string
  readonly body: readonly { readonly type: string; readonly id?: string; readonly attributes: Readonly<Record<string, unknown>> }[]
}

for (const path of listForms()) {
  t.test(path, async (t) => {
    const { name, description, body } = parse(readFileSync(join(ROOT, path), 'utf8')) as Form
    for (const text of [name, description]) t.match(text, /^[A-Z].{3,199}$/)
    const fields = body.filter(({ type }) => type !== 'markdown')
    const ids = fields.map(({ id }) => id)
    t.equal(new Set(ids).size, fields.length, 'each field has an id of its own')
    for (const id of ids) t.match(id, /^[a-z-]+$/)
    for (const { type, attributes } of fields) t.match([type, attributes], ['textarea', { label: /^[A-Za-z]/ }])
    const texts = body.filter(({ type }) => type === 'markdown')
    for (const { attributes } of texts) t.match(attributes, { value: /\S/ })
    t.equal(body.length, fields.length + texts.length)
  })
}

t.test('a bug report warns of secrets before it asks for output', async (t) => {
  const { body } = parse(readFileSync(join(ROOT, '.github/ISSUE_TEMPLATE/bug_report.yml'), 'utf8')) as Form
  t.match(body[0], { type: 'markdown', attributes: { value: /Everybody can read this[\s\S]*tokens/ } })
})
