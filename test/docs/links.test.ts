// SPDX-License-Identifier: Apache-2.0
/**
 * Links and paths of the documents lead somewhere, and every page of docs/ can be reached from the
 * README.
 */
import t from 'tap'
import { findBrokenLinks, findMissingPaths, findUnreachable } from './links.ts'
import { parsePage } from './markdown.ts'
import { listFiles, readPages } from './pages.ts'

const MOST_LINES_OF_README = 169
/** Of all pages in docs/ together: people have to find what they need. */
const MOST_LINES_OF_DOCS = 4_900

const pages = readPages()
const files = listFiles()

t.test('every relative link leads to a file, and every anchor to a heading', async (t) => {
  t.same(findBrokenLinks(pages, files), [])
})

t.test('every path in code that looks like one of this repository exists', async (t) => {
  t.same(findMissingPaths(pages, files), [])
})

t.test('every page of docs/ can be reached from the README', async (t) => {
  t.same(findUnreachable(pages, 'README.md'), [])
})

t.test(`the README has at most ${MOST_LINES_OF_README} lines`, async (t) => {
  const readme = pages.find(({ path }) => path === 'README.md')
  t.ok(readme !== undefined && readme.lines <= MOST_LINES_OF_README, `${readme?.lines}`)
})

t.test('what is broken is found', async (t) => {
  const known = new Set(['README.md', 'docs/a.md', 'src/main.ts', 'src/command/run.ts', 'deploy/assign.yaml'])
  const readme = (text: string) => [
    parsePage('README.md', text),
    parsePage('docs/a.md', '# A page\n\n## A `word`, twice\n\n## A word twice\n'),
  ]
  t.test('links', async (t) => {
    const good =
      '# Top\n[a](docs/a.md) [b](docs/a.md#a-word-twice-1) [c](#top) [d](https://x.example/y#z) `[e](no.md)` [code](deploy/assign.yaml)\n'
    t.same(findBrokenLinks(readme(good), known), [])
    t.same(findBrokenLinks(readme('text\n[a](docs/b.md)'), known), ['README.md:2: docs/b.md: there is no docs/b.md'])
    t.same(findBrokenLinks(readme('[a](docs/a.md#word)'), known), ['README.md:1: docs/a.md#word: docs/a.md has no heading #word'])
    t.same(findBrokenLinks(readme('[a](#row)\n| <a id="row"></a>x |'), known), [])
    t.same(findBrokenLinks(readme('[a](#nowhere)'), known), ['README.md:1: #nowhere: README.md has no heading #nowhere'])
    t.same(findBrokenLinks(readme('[a](src/main.ts#l1)'), known), ['README.md:1: src/main.ts#l1: src/main.ts is not a page with headings'])
    t.same(findBrokenLinks([parsePage('docs/a.md', '[up](README.md)')], known), ['docs/a.md:1: README.md: there is no docs/README.md'])
    const named = (target: string) => readme(`[a][page] \`[b][no]\`\n\n${target}`)
    t.same(findBrokenLinks(named('[page]: docs/a.md#word'), known), ['README.md:1: docs/a.md#word: docs/a.md has no heading #word'])
    t.same(findBrokenLinks(named('[page]: https://x.example/y'), known), [])
    t.same(findBrokenLinks(named('[other]: docs/a.md'), known), ['README.md:1: [page]: there is no [page]'])
  })
  t.test('paths', async (t) => {
    t.same(
      findMissingPaths(
        readme('`src/main.ts` `src/command/` `src/*.ts` `src` `/etc/src/x` `no/such`\n```sh\nkubectl apply -f deploy/assign.yaml\n```'),
        known,
      ),
      [],
    )
    t.same(findMissingPaths(readme('`src/gone.ts` and `src/x-*.ts`'), known), [
      'README.md:1: there is no src/gone.ts',
      'README.md:1: there is no src/x-*.ts',
    ])
    t.same(findMissingPaths(readme('```sh\nkubectl apply -f deploy/gone.yaml\n```'), known), ['README.md:1: there is no deploy/gone.yaml'])
  })
  t.test('reachability', async (t) => {
    t.same(findUnreachable(readme('[a](docs/a.md)'), 'README.md'), [])
    t.same(findUnreachable(readme('nothing'), 'README.md'), ['docs/a.md'])
  })
  t.test('a link and code over two lines, and a line number after a block', async (t) => {
    t.same(findBrokenLinks(readme('```text\n[x](no.md)\n```\nsee [the\npage](docs/b.md)'), known), [
      'README.md:4: docs/b.md: there is no docs/b.md',
    ])
    t.same(parsePage('x.md', 'a `kubelet-cfg-agent\nstatus` and `b').inlineCode, [{ text: 'kubelet-cfg-agent status', line: 1 }])
  })
  t.test('an open code block', async (t) => {
    t.throws(() => parsePage('x.md', 'text\n```sh\nls\n'), /x\.md:2: this code block is not closed/)
  })
})

t.test(`docs/ has at most ${MOST_LINES_OF_DOCS} lines`, async (t) => {
  const lines = pages.filter(({ path }) => path.startsWith('docs/')).reduce((sum, page) => sum + page.lines, 0)
  t.ok(lines > 1_000 && lines <= MOST_LINES_OF_DOCS, `${lines}`)
})
