// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { decodeConfig } from '../../src/kubelet/decode.ts'
import type { FieldPath } from '../../src/kubelet/field-path.ts'
import { layOut } from '../../src/kubelet/json.ts'
import { parseDocument } from '../../src/kubelet/yaml.ts'
import { readDocument } from '../../src/preflight/document.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { HEAD, JSON_HEAD } from './corpus/candidate.ts'
import { listCandidates } from './corpus/candidates.ts'

async function read(text: string) {
  const result = await readDocument(text, IN_PLACE)
  if (!result.ok) throw new Error(result.detail)
  return result.document
}

const YAML = `${HEAD}authentication:
  webhook: &w
    enabled: false
clusterDNS:
- 10.96.0.10
-  10.96.0.11
reservedMemory: [{numaNode: 0}, {limits: {memory: 1Gi}}]
evictionHard: {memory.available: 1Gi}
authorization:
  webhook:
    <<: *w
    cacheAuthorizedTTL: 1m
port: 1
"port": 2
`

const PRETTY = `{
  ${JSON_HEAD},
  "clusterDNS": ["10.96.0.10",  "a\\"b"],
  "evictionHard": {"memory.available" : "1Gi"},
  "port": 2, "a\\u0062": {},
  "reservedMemory": [{}, {"limits": {}}]
}`

t.test('positions of keys and items', async (t) => {
  const cases: [text: string, path: FieldPath, line: number, column: number][] = [
    [YAML, ['kind'], 2, 1],
    [YAML, ['authentication', 'webhook', 'enabled'], 5, 5],
    [YAML, ['clusterDNS'], 6, 1],
    [YAML, ['clusterDNS', 0], 7, 3],
    [YAML, ['clusterDNS', 1], 8, 4],
    [YAML, ['reservedMemory', 1, 'limits', 'memory'], 9, 43],
    [YAML, ['evictionHard', 'memory.available'], 10, 16],
    [YAML, ['authorization', 'webhook', 'cacheAuthorizedTTL'], 14, 5],
    [YAML, ['authorization', 'webhook', 'enabled'], 5, 5],
    [YAML, ['port'], 16, 1],
    [PRETTY, ['kind'], 2, 48],
    [PRETTY, ['clusterDNS', 1], 3, 33],
    [PRETTY, ['evictionHard', 'memory.available'], 4, 20],
    [PRETTY, ['port'], 5, 3],
    [PRETTY, ['ab'], 5, 14],
    [PRETTY, ['reservedMemory', 1, 'limits'], 6, 27],
  ]
  for (const [text, path, line, column] of cases) t.strictSame((await read(text)).locate(path), { line, column }, path.join('.'))
  for (const text of [YAML, PRETTY]) {
    for (const path of [[], ['nope'], ['port', 0], ['clusterDNS', 2], ['clusterDNS', 'x'], ['kind', 'x']]) {
      t.equal((await read(text)).locate(path), undefined, path.join('.'))
    }
  }
})

t.test('repeated keys', async (t) => {
  t.strictSame((await read(YAML)).repeated, [{ path: ['port'], position: { line: 16, column: 1 } }])
  t.strictSame((await read(`${HEAD}a:\n- x: 1\n  x: 2\n`)).repeated, [{ path: ['a', 0, 'x'], position: { line: 5, column: 3 } }])
})

t.test('errors have a text and a position', async (t) => {
  const cases: [text: string, detail: string | RegExp, line: number | undefined, column?: number][] = [
    ['', 'the config is empty', undefined],
    ['- a\n', 'the config is not an object', undefined],
    [`${HEAD}a: [\n`, /at line 4/, 4, 1],
    [`${HEAD}port: "1"\n`, 'port must be a 32 bit integer', 3, 1],
    [`${HEAD}port: "1"\nmaxPods: "2"\n`, 'port must be a 32 bit integer; maxPods must be a 32 bit integer', 3, 1],
    [`${HEAD}authentication:\n  webhook: {enabled: "false"}\n`, 'authentication.webhook.enabled must be true or false', 4, 13],
    [HEAD.replace('v1beta1', 'v1'), /^apiVersion must be/, 1, 1],
    [HEAD.replace('kind', 'KIND').replace('KubeletC', 'C'), /^kind must be KubeletConfiguration, but is "Configuration"/, 2, 1],
    [`${HEAD}a: \u0007\n`, /control characters/, 3, 4],
    [`${HEAD}${'['.repeat(200)}`, /nested/, 3, 102],
    [`{\n${JSON_HEAD},\n "port": 1e1}`, 'port must be an integer without a fraction or an exponent', 3, 2],
    [`{\n${JSON_HEAD},\n}`, 'starts with { but is not valid JSON: remove this comma', 2, 75],
    [`%YAML 1.2\n---\n${HEAD}`, /a directive differently: remove the line/, 1, 1],
    [`${HEAD}? [a]\n: b\n`, /a question mark before a key differently/, 3, 1],
    [`{\n${JSON_HEAD},\n "a": {"b": 1,\n "b": 2}}`, 'repeated key a.b: kubelet may mix its values; keep one of them', 4, 2],
    [`{${JSON_HEAD},"a":[1e999]}`, 'a number is larger than kubelet can read', undefined],
    [`{${JSON_HEAD},"a":{"\\ud800":1}}`, 'half a surrogate pair is no character', undefined],
    [`${' '.repeat(2000)}{${JSON_HEAD}}`, /kubelet 1.20 would read it as YAML/, undefined],
  ]
  for (const [text, detail, line, column = 1] of cases) {
    const result = await readDocument(text, IN_PLACE)
    t.match(result, { ok: false, detail }, JSON.stringify(text))
    t.strictSame(result.ok ? 'accepted' : result.position, line === undefined ? undefined : { line, column }, JSON.stringify(text))
  }
})

t.test('merge keys', async (t) => {
  t.equal((await read(`${HEAD}port: 1\n<<: {port: 2}\n`)).config.port, 2, 'override keys before them')
  t.equal((await read(`${HEAD}<<: {port: 2}\nport: 1\n`)).config.port, 1, 'yield to keys after them')
  t.equal((await read(`${HEAD}<<: [{port: 2}, {port: 3}]\n`)).config.port, 2, 'the first of several')
})

t.test('kubelet reads the first document alone', async (t) => {
  const [whole, other] = [`${HEAD}maxPods: 5\n`, 'apiVersion: v1\nkind: ConfigMap\n']
  const one: readonly string[] = [
    ...[whole, `---\n${whole}`, `# c\n---\n${whole}`, `---\n${whole}---\n`, `${whole}...\n`, `${whole}---\n# nothing\n\n`],
    `${whole}clusterDomain: |\n  ---\n  a\n`,
  ]
  for (const text of one) t.equal((await read(text)).second, undefined, text)
  t.strictSame((await read(`${whole}---\n${other}`)).second, { line: 4, column: 1 })
  t.strictSame((await read(`---\r\n${whole}---\r\n# c\r\n---\r\n${other}`)).second, { line: 7, column: 1 })
  t.strictSame((await read(`${whole}--- {a: b}\n`)).second, { line: 4, column: 1 })
  t.equal((await read(`{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration"}`)).second, undefined)
})

t.test('an empty first document is named, with the one that was meant', async (t) => {
  const empty = (text: string) => readDocument(text, IN_PLACE)
  t.match(await empty(`---\n---\n${HEAD}`), {
    ok: false,
    detail: /^the first document of this text is empty.* document 2/,
    position: { line: 2 },
  })
  t.match(await empty(`---\n# c\n---\n---\n${HEAD}`), { ok: false, detail: /before document 3/, position: { line: 4, column: 1 } })
  t.match(await empty('---\n# c\n'), { ok: false, detail: 'the config is not an object' })
})

t.test('accepts what decodeConfig accepts', async (t) => {
  const different: string[] = []
  for (const { name, text } of listCandidates().filter(({ text }) => !text.includes('[[[['))) {
    const decoded = decodeConfig(text, parseDocument)
    const document = await readDocument(text, IN_PLACE)
    const [ours, theirs] = [document.ok ? document.document.config : document.detail, decoded.ok ? decoded.config : decoded.detail]
    if (!isDeepStrictEqual(ours, theirs)) different.push(name.slice(0, 200))
  }
  t.strictSame(different, [])
})

t.test('finds the position of every key of any JSON', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), fc.constantFrom(0, 1), async (extra, indent) => {
      const value = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', extra }
      const text = JSON.stringify(value, undefined, indent)
      const { locate } = await read(text)
      const lines = text.split('\n')
      for (const key of Object.keys(extra)) {
        const { line, column } = locate(['extra', key]) ?? { line: 0, column: 0 }
        if (lines[line - 1]?.slice(column - 1).startsWith(JSON.stringify(key)) !== true) throw new Error(`${key} at ${line}:${column}`)
      }
    }),
    { numRuns: 100 },
  )
})

t.test('nested JSON costs little memory, and more levels than the rules can follow are refused', async (t) => {
  const nested = (levels: number) => `"x": ${'['.repeat(levels)}${']'.repeat(levels)}`
  const head = '"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1"'
  t.match(await readDocument(`{${head}, ${nested(90)}}`, IN_PLACE), { ok: true })
  const before = process.memoryUsage.rss()
  t.match(await readDocument(`{${head}, ${nested(9_000)}}`, IN_PLACE), { ok: false, detail: 'nested more than 100 levels deep' })
  const layout = layOut(`{${nested(9_000)}, "x": 1.0, "y": {"z": [1, 2e3]}}`)
  t.same(
    layout.repeated.map(({ path }) => path),
    [['x']],
  )
  t.same(
    layout.unlikeIntegers.map(({ path }) => path),
    [['x'], ['y', 'z', 1]],
  )
  t.ok(process.memoryUsage.rss() - before < 200 << 20, 'it took 600 MiB when each level kept its whole path')
})

t.test('a repeated key in JSON is refused, since kubelet mixes objects and keeps a value before null', async (t) => {
  for (const text of [
    '"port":1,"port":2',
    '"port":1,"port":null',
    '"authentication":{"x509":{}},"authentication":{}',
    '"foo":{"bar":1,"bar":1}',
  ]) {
    const whole = `{${JSON_HEAD},${text}}`
    const refusal = {
      ok: false,
      detail: /^repeated key (port|authentication|foo\.bar): kubelet may mix its values/,
      unjudged: true,
    } as const
    t.match(await readDocument(whole, IN_PLACE), { ...refusal, position: { line: 1 } }, text)
    t.match(
      decodeConfig(whole, () => ({ ok: false, detail: 'no YAML' })),
      refusal,
      text,
    )
  }
  t.match(await readDocument(`{${JSON_HEAD},"clusterDomain":"a\\":b"}`, IN_PLACE), { ok: true }, 'a colon in a text')
  const secret = `{${JSON_HEAD},"staticPodURLHeader":{"a":"s3cret"},"staticPodURLHeader":{}}`
  t.notMatch(JSON.stringify(await readDocument(secret, IN_PLACE)), /s3cret/)
})

t.test('many repeated keys take no time that grows faster than the text', async (t) => {
  const many = (count: number) => `{${JSON_HEAD},${'"port":1,'.repeat(count)}"port":2}`
  const nested = `{${JSON_HEAD}${',"authentication":{"x509":{"a":[[[[]]]]}}'.repeat(20_000)}}`
  for (const text of [many(100_000), nested]) t.equal((await readDocument(text, IN_PLACE)).ok, false)
})
