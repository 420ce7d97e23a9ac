// SPDX-License-Identifier: Apache-2.0
/** The pictures of docs/images/: each is drawn from what is kept, and is a safe SVG. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { listActs, readCast, wrapLine, writeCast } from '../../scripts/pictures/cast.ts'
import { drawChart, tellValue } from '../../scripts/pictures/charts.ts'
import { listExpressions, readAnswers, readDashboard, writeAnswers } from '../../scripts/pictures/metrics-file.ts'
import { CAST, DASHBOARD, drawAll, METRICS, ROOT } from '../../scripts/pictures/pictures.ts'
import { readRollout } from '../../scripts/pictures/rollout-story.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const pictures = Object.keys(drawAll())
const MOST_BYTES = 400_000

/** What is wrong with the elements of a text in XML. */
function listFaults(xml: string): readonly string[] {
  const open: string[] = []
  const faults: string[] = []
  const TAG = /<(\/?)([a-z]\w*)((?: [\w:-]+="[^"<]*")*)(\/?)>/gi
  for (const [, closes, name = '', , empty] of xml.matchAll(TAG)) {
    if (closes !== '') {
      const opened = open.pop()
      if (opened !== name) faults.push(`</${name}> ends <${opened}>`)
    } else if (empty === '') open.push(name)
  }
  if (/<|&(?!(amp|lt|quot);)/.test(xml.replaceAll(TAG, ''))) faults.push('a character that is not escaped')
  return [...faults, ...open.map((name) => `<${name}> does not end`)]
}

t.test('the pictures are those that npm run pictures draws', async (t) => {
  for (const [path, svg] of Object.entries(drawAll())) t.ok(read(path) === svg, `${path} is up to date`)
  t.same(readdirSync(join(ROOT, 'docs/images')).sort(), pictures.map((path) => path.replace('docs/images/', '')).sort(), 'and no others')
})

t.test('each is well-formed, names what it shows, and neither runs nor loads anything', async (t) => {
  for (const path of pictures) {
    const svg = read(path)
    t.same(listFaults(svg), [], path)
    t.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" /, path)
    t.match(svg, /<title id="title">\w.*<\/title>\n<desc id="description">\w/, path)
    t.match(svg, '@media (prefers-color-scheme:dark)', path)
    t.notMatch(
      svg.replace('http://www.w3.org/2000/svg', ''),
      /<(script|image|use|foreignObject|a)\b|href|url\(|@import|:\/\/| on\w+=/i,
      path,
    )
  }
  t.same(listFaults('<a b="c"><d/>&amp;</a>'), [])
  for (const wrong of ['<a>', '<a></b>', '<a b=c/>', '<a>&</a>', '<a b="<"/>']) t.not(listFaults(wrong).length, 0, wrong)
})

t.test('the recording moves for nobody who prefers that it does not, and on no paper', async (t) => {
  const svg = read('docs/images/demo.svg')
  t.match(svg, '@media print,(prefers-reduced-motion:reduce){.lines{animation:none}}')
  // Without the animation it shows its end: the last keyframe is where the lines are.
  const [, last] = /translate\(0 (-\d+)\)/.exec(svg) ?? []
  t.ok(svg.includes(`{transform:translateY(${last}px)}}`), 'it is the last keyframe')
})

t.test('they and what they are drawn from take little room', async (t) => {
  const bytes = [...pictures, CAST, METRICS].reduce((sum, path) => sum + read(path).length, 0)
  t.ok(bytes < MOST_BYTES, `${bytes} bytes`)
})

t.test('each expression of the dashboard has been asked: npm run pictures -- --record', async (t) => {
  t.same(Object.keys(readAnswers(read(METRICS))), listExpressions(readDashboard(read(DASHBOARD)).panels))
})

t.test('a recording is read as it was written', async (t) => {
  const cast = { title: 'x', columns: 80, rows: 24, output: [{ seconds: 1.25, text: 'one\ntwo\n' }] }
  t.match(writeCast(cast), '[1.25,"o","one\\r\\ntwo\\r\\n"]\n')
  t.same(readCast(writeCast(cast)), cast)
  const answers = { 'up > 0': [{ labels: { job: 'x' }, values: [1, null] }], 'vector(0)': [] }
  t.same(readAnswers(writeAnswers(answers)), answers)
})

t.test('a line is broken where the terminal ends', async (t) => {
  const line = {
    seconds: 1,
    spans: [
      { text: 'abc', look: 1 },
      { text: 'defgh', look: 0 },
    ],
  }
  const texts = wrapLine(line, 4).map(({ spans }) => spans.map(({ text, look }) => `${look}:${text}`))
  t.same(texts, [['1:abc', '0:d'], ['0:efgh']])
  t.same(wrapLine({ seconds: 1, spans: [] }, 4), [{ seconds: 1, spans: [] }])
})

t.test('the lanes of a rollout, by what the demo prints', async (t) => {
  const acts = listActs([
    '8. Before',
    '  1.0s  you      does something',
    '9. A bad edit',
    '  2.0s  you      edits',
    '  3.0s  record   rollout 1 begins',
    '  3.0s  record   node-2 starts it, and says so first',
    '  4.0s  kubelet  node-2: failed to run Kubelet: x',
    '  5.0s  kubelet  node-2: the same again',
    '  6.0s  agent    node-2: config failed, rolling back from a to b',
    '  7.0s  record   node-2 says that it failed: crash-loop',
    '  7.0s  event    RolloutHalted: rollout 1 is halted',
    '10. Repair it',
    '  8.0s  record   rollout 2 begins',
    '  8.0s  record   node-1 starts it, and says so first',
    '  9.0s  kubelet  node-1: starts with it',
    ' 10.0s  record   node-1 has proved it: its trial has passed',
    ' 10.0s  record   stage 1 opens: one more node may start it',
    ' 11.0s  kubelet  runs it on each node',
  ])
  const { stages, lanes, ...rest } = readRollout(acts)
  t.same(rest, {
    acts: [
      { title: '9. A bad edit', from: 2 },
      { title: '10. Repair it', from: 8 },
    ],
    from: 2,
    to: 11,
  })
  t.same(
    lanes.map(({ node, segments, exits }) => [node, segments.map(({ from, state }) => `${from} ${state}`).join(', '), exits]),
    [
      ['node-1', '2 old, 3 waits, 8 claim, 9 trial, 10 proved', []],
      ['node-2', '2 old, 3 claim, 4 bad, 6 back, 7 veto, 8 waits', [4, 5]],
    ],
  )
  t.same(
    stages.map(({ from, to, name, opensTo }) => `${from}-${to} ${name}: ${opensTo}`),
    ['3-7 stage 0: one node', '7-8 halted: nobody', '8-10 stage 0: one node', '10-11 stage 1: one more'],
  )
})

t.test('the areas of a graph stand on each other, and a line has gaps', async (t) => {
  const box = { x: 0, y: 0, width: 44, height: 100 }
  const paths = (isStacked: boolean, ...values: (readonly (number | null)[])[]) =>
    drawChart({ series: values.map((one) => ({ labels: {}, values: one })), isStacked, unit: 'short', marks: [] }, box).flatMap(
      (drawn) => /class="[al] c\d" d="(.*)"/.exec(drawn)?.[1] ?? [],
    )
  t.same(paths(true, [1, 1, null, null], [1, null, 1, 1]), ['M40 50V50H42V100H40Z', 'M40 0V0H41V50H40ZM42 50V50H44V100H42Z'])
  t.same(paths(false, [1, null, 2, 2]), ['M40 50V50H41M42 0V0H44'])
})

t.test('values have the units of the dashboard', async (t) => {
  for (const [value, unit, told] of [
    [0.333, 'percentunit', '33 %'],
    [0.25, 's', '250 ms'],
    [19.74, 's', '19.7 s'],
    [0, 's', '0 s'],
    [6, 'short', '6'],
  ] as const)
    t.equal(tellValue(value, unit), told)
})
