// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path'
import t from 'tap'
import { BoundedYaml, isCheap } from '../../src/kubelet/bounded-yaml.ts'
import { ParsedTexts } from '../../src/kubelet/parsed-texts.ts'
import { parseDocuments, parseLocated } from '../../src/kubelet/yaml.ts'

// Each text starts a process.
t.setTimeout(120_000)

const CHILD = join(import.meta.dirname, '../../src/kubelet/yaml-child.ts')
const open = (options: Partial<ConstructorParameters<typeof BoundedYaml>[0]> = {}) => new BoundedYaml({ child: CHILD, ...options })
const HEAD = 'kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n'

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** 990 merges of one large map: 114 s of CPU and 404 MiB. */
function manyMerges(): string {
  const keys = Array.from({ length: 92_000 }, (_, at) => `  k${at.toString(36)}: 1\n`).join('')
  const uses = Array.from({ length: 990 }, (_, at) => `b${at}:\n  <<: *a\n`).join('')
  return `${HEAD}a: &a\n${keys}${uses}`
}

t.test('a hostile text is refused after 2 s, and the loop goes on meanwhile', async (t) => {
  const text = manyMerges()
  t.ok(text.length > 900_000 && text.length < 1 << 20, `${text.length}`)
  let turns = 0
  const ticking = setInterval(() => turns++, 10)
  // With the memory of the agent's own parser either limit may be the first: the next test has it.
  const read = await open({ memoryMb: 1024 }).first(text)
  clearInterval(ticking)
  t.match(read, { ok: false, detail: /^takes longer than 2 s to parse: shorten it/ })
  t.ok(turns > 20, `${turns} turns`)
})

t.test('a text that needs much memory is refused', async (t) => {
  const read = await open({ memoryMb: 24, limitMs: 60_000 }).first(manyMerges())
  t.match(read, { ok: false, detail: /^takes more than 24 MiB of memory to parse/ })
})

t.test('a text that becomes very long without its aliases is refused', async (t) => {
  const read = await open({ limitMs: 60_000 }).first(`a: &a "${'x'.repeat(200_000)}"\nb: [${'*a,'.repeat(90)}]\n`)
  t.match(read, { ok: false, detail: /^becomes too large when its aliases are replaced/ })
})

t.test('the length is that of its bytes: a character may have three', async (t) => {
  const value = '\u6f22'.repeat(80_000)
  const repeat = (times: number) => `a: &a "${value}"\nb: [${'*a,'.repeat(times)}]\n`
  t.ok(Buffer.byteLength(repeat(99)) < 256 << 10)
  for (const times of [99, 40])
    t.match(await open({ limitMs: 60_000 }).first(repeat(times)), { ok: false, detail: /^becomes too large when its aliases/ })
  t.match(await open({ limitMs: 60_000 }).first(repeat(30)), { ok: true, value: { b: { length: 30 } } })
})

t.test('the result is the same as in this process', async (t) => {
  const texts = [
    `${HEAD}a: &x {b: [1, {c: 08}]}\nd: *x\ne:\n  <<: *x\n  f: ~\n`,
    'a: &x 1\na: 2\n"__proto__": {"b": *x}\n',
    `# ${'long '.repeat(10_000)}\na: [b, {c: "\u00e9\u{1F600}"}]\n`,
    'a: &x [',
    'a: &a [*a]',
  ]
  const yaml = open()
  for (const text of texts) {
    t.notOk(isCheap(text))
    const [here, there] = [parseLocated(text), await yaml.first(text)]
    t.same(plain(there), plain(here), text.slice(0, 60))
    if (!here.ok || !there.ok) continue
    for (const path of [['a'], ['a', 0], ['d'], ['e', 'f'], ['a', 'b', 1, 'c'], ['nowhere'], []])
      t.same(there.locate(path), here.locate(path), `${path}`)
  }
  const uncommon = 'a: &x !!str 1\nb: *x\n'
  t.match(await yaml.first(uncommon), { ok: false, unjudged: true })
  t.match(await yaml.firstOfAny(uncommon), { ok: true, value: { a: '1', b: '1' } })
  for (const text of ['a: &x 1\n---\nb: 2\n---\n', 'a: *b']) t.same(plain(await yaml.all(text)), plain(parseDocuments(text)), text)
})

t.test('which texts are parsed in this process', async (t) => {
  for (const text of ['', HEAD, 'allowedUnsafeSysctls: ["kernel.msg*", net.*]\n', 'a: b&c', 'x'.repeat(32 << 10)]) t.ok(isCheap(text), text)
  for (const text of [
    '*a',
    'a: &b',
    '[*a]',
    '{a: 1,*b: 2}',
    '{"a":*b}',
    '- &a',
    'a:\n\t*b',
    '\ufeff&a',
    '? *a',
    `a${'x'.repeat(32 << 10)}`,
  ])
    t.notOk(isCheap(text), text.slice(0, 20))
  t.notOk(isCheap('<<: {a: 1}'), 'the cost of merges grows with the square of their number')
  // Without the program for the others.
  t.match(await open({ child: '/nowhere' }).first('a: 1'), { ok: true, value: { a: 1 } })
})

t.test('what is not the text at fault rejects', async (t) => {
  await t.rejects(open({ child: '/nowhere.ts' }).first('&a 1'), { message: /^cannot run the parser of YAML: / })
  await t.rejects(open({ child: '/nowhere.mjs' }).first('&a 1'), { code: 'ENOENT' })
  const stop = new AbortController()
  const stopped = open().first(manyMerges(), stop.signal)
  stop.abort()
  await t.rejects(stopped)
  await t.rejects(open().all('&a 1', AbortSignal.abort()))
})

/** Answers with what it is not allowed. */
const CURIOUS = `
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
const tries = {
  reads: () => readFileSync('/etc/hostname'),
  writes: () => writeFileSync(import.meta.dirname + '/new', ''),
  starts: () => spawnSync('true'),
  works: () => new Worker('', { eval: true }),
}
const isRefused = (attempt) => { try { attempt(); return false } catch (error) { return error.code === 'ERR_ACCESS_DENIED' } }
const refused = Object.keys(tries).filter((name) => isRefused(tries[name]))
console.log(JSON.stringify({ kind: 'failed', detail: refused.join(', ') }))
`

const isLimited = process.allowedNodeEnvironmentFlags.has('--permission')

t.test('the parser as it is built may do nothing but parse', { skip: !isLimited && 'this Node.js has no --permission' }, async (t) => {
  const child = join(t.testdir({ 'child.mjs': CURIOUS }), 'child.mjs')
  t.match(await open({ child }).first('&a 1'), { ok: false, detail: 'reads, writes, starts, works' })
})

t.test('a failure does not keep the next text from being parsed', async (t) => {
  const yaml = open()
  const first = yaml.first('&a 1', AbortSignal.abort())
  const second = yaml.first('&a 2')
  await t.rejects(first)
  t.match(await second, { ok: true, value: 2 })
})

t.test('texts for code that may not wait', async (t) => {
  const calls: string[] = []
  const errors: unknown[] = []
  const results = new Map<string, (value: string | Error) => void>()
  const texts = new ParsedTexts(
    (text) => new Promise<string>((yes, no) => results.set(text, (value) => (value instanceof Error ? no(value) : yes(value)))),
    (error) => errors.push(error),
  )
  const end = async (text: string, value: string | Error) => {
    results.get(text)?.(value)
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.equal(
    texts.look('a', () => calls.push('one')),
    undefined,
  )
  t.equal(
    texts.look('a', () => calls.push('two')),
    undefined,
  )
  await end('a', 'A')
  t.same(calls, ['one', 'two'])
  t.equal(
    texts.look('a', () => {}),
    'A',
  )
  t.equal(
    texts.look('a', () => calls.push('again')),
    undefined,
    'a result is handed over once',
  )
  await end('a', new Error('no program'))
  t.match(errors, [{ message: 'no program' }])
  t.same(calls, ['one', 'two'], 'nobody is called: the next look tries again')
  t.equal(
    texts.look('a', () => {}),
    undefined,
  )
  await end('a', 'A')
  t.equal(
    texts.look('a', () => {}),
    'A',
  )
})
