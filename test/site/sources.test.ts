// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { collectSources, markdownOf, type Shown, siteFile, siteLink } from '../../site/sources.ts'

const FILES: Readonly<Record<string, string>> = {
  'README.md': '# The agent\n\n[Install](docs/install.md#by-hand), [licence](LICENSE), [out](https://x.example/a.md)\n',
  'docs/install.md':
    '# `install` it\n\n[up](../README.md) [here](#by-hand) [unit](../deploy/unit.yaml) [folder](../deploy/chart/) [picture](images/a.png)\n',
  'docs/images/a.png': '',
  'deploy/unit.yaml': 'a: 1\n',
  'deploy/chart/README.md': '# Chart\n\n[values](values.yaml)\n',
  'deploy/chart/values.yaml': 'b: 2\n',
  'deploy/other/README.md': '# Nobody links here\n',
  LICENSE: 'Take it.\n',
}
const files = new Set(Object.keys(FILES))
const read = (path: string) => FILES[path] ?? ''
const sources = collectSources(files, read)

function shown(path: string): Shown {
  const found = sources.get(path)
  if (found === undefined) throw new Error(`${path} is not shown`)
  return found
}

t.test('the pages are those of docs/ and of the root, and all that they link to', async (t) => {
  t.strictSame(Object.fromEntries([...sources.values()].map((one) => [one.path, [one.kind, siteFile(one)]])), {
    'README.md': ['page', 'index.md'],
    'docs/install.md': ['page', 'docs/install.md'],
    LICENSE: ['text', 'LICENSE.md'],
    'deploy/unit.yaml': ['text', 'deploy/unit.yaml.md'],
    'deploy/chart': ['folder', 'deploy/chart/index.md'],
    'deploy/chart/README.md': ['page', 'deploy/chart/README.md'],
    'deploy/chart/values.yaml': ['text', 'deploy/chart/values.yaml.md'],
  })
  t.match(shown('docs/install.md'), { title: '`install` it' })
})

t.test('links lead to where the site has what they name', async (t) => {
  const table: readonly (readonly [from: string, target: string, expected: string])[] = [
    ['README.md', 'docs/install.md#by-hand', 'docs/install.md#by-hand'],
    ['README.md', 'LICENSE', 'LICENSE.md'],
    ['README.md', 'https://x.example/a.md', 'https://x.example/a.md'],
    ['docs/install.md', '../README.md', '../index.md'],
    ['docs/install.md', '#by-hand', '#by-hand'],
    ['docs/install.md', '../deploy/unit.yaml', '../deploy/unit.yaml.md'],
    ['docs/install.md', '../deploy/chart/', '../deploy/chart/index.md'],
    ['deploy/chart', 'values.yaml', 'values.yaml.md'],
  ]
  for (const [from, target, expected] of table) t.equal(siteLink(shown(from), target, sources), expected, `${from}: ${target}`)
})

t.test('a file is shown as it is, whatever it has in it, and a folder as a list', async (t) => {
  t.equal(
    markdownOf(shown('deploy/unit.yaml'), 'a: 1\n# ```\n', files),
    '---\naside: false\n---\n# deploy/unit.yaml\n\nThis file of the repository, as it is: <a href="unit.yaml" download>download</a>\n\n````yaml\na: 1\n# ```\n````\n',
  )
  t.match(markdownOf(shown('LICENSE'), 'Take it.\n', files), '```text\nTake it.\n```\n')
  t.equal(
    markdownOf(shown('deploy/chart'), '', files),
    '---\naside: false\n---\n# deploy/chart\n\nWhat this folder of the repository holds:\n\n- [README.md](README.md)\n- [values.yaml](values.yaml)\n',
  )
})
