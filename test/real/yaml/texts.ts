// SPDX-License-Identifier: Apache-2.0
/**
 * Random texts of configs: the corpus of preflight and configs as people write them, damaged by the
 * grammar of YAML. Pure: the same seed makes the same texts.
 */
import { HEAD, JSON_HEAD } from '../../preflight/corpus/candidate.ts'
import { listCandidates } from '../../preflight/corpus/candidates.ts'
import type { Random } from '../../sim/random.ts'

const LONGEST_BASE = 1500
const MOST_MUTATIONS = 4

const USUAL = `# The config of our nodes.
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous:
    enabled: false
  webhook: {enabled: true, cacheTTL: 2m0s}
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
clusterDNS:
- 10.96.0.10   # the cluster's
- "fd00::10"
clusterDomain: cluster.local
evictionHard: &eviction
  memory.available: 100Mi
  "nodefs.available": 10%
  imagefs.available: '15%'
evictionSoft:
  <<: *eviction
  memory.available: 300Mi
featureGates: {RotateKubeletServerCertificate: true}
maxPods: 110
memoryThrottlingFactor: 0.8
staticPodPath: ""
registerWithTaints:
  - key: node.example.com/new
    effect: NoSchedule
note: |
  several lines
    of a text

  for nobody
folded: >-
  several lines
  of a text
long: "a text
  on two lines"
tlsCipherSuites: [
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
  TLS_AES_128_GCM_SHA256,
]
---
a: second document
`

type Choices = readonly [string, ...string[]]

const NUMBERS: Choices = [
  ...(['0', '1', '-0', '+0', '-1', '+1', '00', '08', '010', '0777', '-010', '0_1', '1_000', '_1', '1__0', '.1_000', '1.0_0'] as const),
  ...['0x1F', '0X1F', '-0x1', '+0x1', '0x_1', '0x', '0b11', '0B1', '-0b1', '0b_1', '0b2', '0o17', '0O17', '-0o1', '0o8'],
  ...[
    '1.',
    '1.0',
    '.5',
    '-.5',
    '+.5',
    '0.5',
    '1e3',
    '1E3',
    '1e+3',
    '1e-3',
    '1.5e3',
    '.5e1',
    '1e400',
    '1e-400',
    '1e',
    '-1e3',
    '08.5',
    '1.e3',
  ],
  ...[
    '.inf',
    '-.inf',
    '+.inf',
    '.Inf',
    '.INF',
    '.nan',
    '.NaN',
    'inf',
    'nan',
    'Infinity',
    'NaN',
    '0x1p3',
    '0x1.8p1',
    '1_0.5',
    '-',
    '+',
    '.',
    '-.',
  ],
  ...['9007199254740993', '9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809'],
  ...['18446744073709551615', '18446744073709551616', '99999999999999999999', '0xFFFFFFFFFFFFFFFF', '0x10000000000000000'],
  ...[
    '1:30',
    '190:20:30',
    '12:30:45',
    '2001-12-14',
    '2001-12-14T21:59:43Z',
    '2001-12-14 21:59:43',
    '1.2.3.4',
    '1h30m',
    '10%',
    '100Mi',
    '0-3,8',
  ],
]
const WORDS: Choices = [
  ...([
    'a',
    'true',
    'false',
    'True',
    'TRUE',
    'tRUE',
    'yes',
    'No',
    'on',
    'OFF',
    'y',
    'n',
    'Y',
    'N',
    'null',
    '~',
    'Null',
    'NULL',
    'nULL',
    '',
  ] as const),
  ...[
    '=',
    '<<',
    'x y',
    'x  y',
    'a:b',
    'a: b',
    'http://x:80/',
    'fd00::1',
    '::1',
    'a#b',
    'a #b',
    "it's",
    'x"y',
    'x,y',
    'x]',
    'x}',
    'x?',
    '?x',
    '-x',
    '--x=y',
  ],
  ...[
    'é',
    '😀',
    'a\u00a0b',
    '/etc/x',
    '$(X)',
    '(a)',
    'a|b',
    '>a',
    '%a',
    '@a',
    '`a',
    '*',
    '&',
    '!',
    '^',
    ';',
    '\\n',
    'a-b',
    'a\\',
    '[]',
    '{}',
    '""',
    "''",
  ],
]
const QUOTED: Choices = [
  ...([
    '"a"',
    "'a'",
    '"a\\nb"',
    '"\\x41"',
    '"\\u00e9"',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"\\U0001F600"',
    '"\\q"',
    '"\\/"',
    '"\\0"',
    '"\\e"',
  ] as const),
  ...[
    '"\\N\\_\\L\\P"',
    '"a\\\n  b"',
    '"a\n  b"',
    "'a\n  b'",
    '"a \n\n  b"',
    "'it''s'",
    '"a\\"b"',
    '"\\ "',
    '"\\\t"',
    '"a\t\n b"',
    '"\\a\\b\\v\\f\\r\\t"',
  ],
  ...[
    '"a: b"',
    "'# a'",
    '"a\u2028b"',
    "'a\u0085b'",
    '"a\rb"',
    '"---\n a"',
    '"a\n--- b"',
    "' a '",
    '" a\n b "',
    '"true"',
    "'1'",
    '"<<"',
    '"\'"',
    "'\"'",
    '"\\\'"',
  ],
]
/** Texts that may stand before a value. */
const PROPERTIES: Choices = [
  '&a ',
  '&b ',
  '&a:x ',
  '&a.b ',
  '&é ',
  '&a\n  ',
  '!!str ',
  '!!int ',
  '!!null ',
  '!!binary ',
  '!t ',
  '! ',
  '!<x> ',
  '!!map ',
  '&a !!str ',
]
const ALIASES: Choices = ['*a', '*b', '*a:x', '*a ', '*a.b', '*é']
const KEYS: Choices = [
  ...([
    'k',
    'k2',
    'maxPods',
    '"k"',
    "'k'",
    '1',
    '!!str 1',
    '"1"',
    '1.5',
    'yes',
    'y',
    '~',
    'null',
    '""',
    '<<',
    '"<<"',
    '? k\n',
    '?k',
    '&a k',
    '*a ',
  ] as const),
  ...['[a]', '{a: b}', '? [a]\n', '? - a\n', 'a b', 'a:b', '-k', '.1', '2001-12-14', '\ufeffk', 'k\u00a0', '__proto__', 'k\n ', 'é'],
]
const HEADERS: Choices = ['|', '>', '|-', '>-', '|+', '>+', '|2', '|2-', '|-2', '>1', '|1', '| # c', '|  ', '|\t', '|x', '>#c']
/** For any place. */
const PIECES: Choices = [
  ...([
    '?',
    '? ',
    ':',
    ': ',
    '-',
    '- ',
    ',',
    ', ',
    '{',
    '}',
    '[',
    ']',
    '#',
    ' #',
    '"',
    "'",
    '\\',
    '|',
    '>',
    '%',
    '@',
    '`',
    '!',
    '&',
    '*',
  ] as const),
  ...[
    '\n',
    '\n\n',
    ' ',
    '  ',
    '\t',
    '\r',
    '\r\n',
    '\ufeff',
    '\u2028',
    '\u2029',
    '\u0085',
    '\u00a0',
    '\u0007',
    '\u007f',
    '\u200b',
    '\ufffd',
  ],
  ...[
    '---',
    '\n---\n',
    '--- ',
    '...',
    '\n...\n',
    '%YAML 1.1\n---\n',
    '%YAML 1.2\n---\n',
    '%FOO\n',
    '<<: ',
    '<<',
    '{?k: v}',
    '[?b]',
    '{c:}',
    `{${'k'.repeat(1000)}${' '.repeat(25)}: 1}`,
    '[a: b]',
    '[a:]',
    '{a, b: 1}',
    '[a\n\t]',
    '{a: {b: 1\n\t},\n\tc: "d"\n\t}',
  ],
  ...['\n  ', '\n\t', '\n - ', '\n  # c\n', '\n? ', '\n: ', '_', '.', '0', '\ufeff\ufeff'],
]
/** Whole lines, as the last ones or between others. */
const LINES: Choices = [
  ...([
    'x: 1',
    '  x: 1',
    '- x',
    '  - x',
    '-\ta',
    '- \ta',
    '# c',
    '',
    '  ',
    '\t',
    ' \t',
    '---',
    '...',
    '? x',
    ': y',
    '<<: *a',
    '<<: [*a, *b]',
    '<<: {x: 1}',
    'a: &a {x: 1}',
  ] as const),
  ...[
    'b: &b {<<: *a, y: 2}',
    '? [a]:',
    '? [a]\n: {<<: *a}',
    '? {<<: *a}\n: 1',
    '? [a]:\n  <<: x',
    '1: a\n!!str 1: b',
    'x: |',
    'x: >',
    'x: |\n',
    'x: {?k: v}',
    'x: [?b]',
  ],
  ...[
    'x: {c:}',
    'x: &a:x 1\ny: *a:x',
    'x: |2-\n  a',
    'x: .1_000',
    '"x":1',
    'x:\n- a',
    'x:\n-',
    'x: - a',
    'x: a\n  b',
    'x: a\n  b: c',
    'x: "a',
    'x: a # b',
    '%x',
    'x: -',
  ],
]

export function makeText(random: Random): string {
  if (random.chance(0.01))
    return random.pick(['|\n  a\n', '>\n a\n', '--- |\n  a: b\n', '--- >-\n a\n---\n', '"a"\n', '- a\n', '\ufeff\ufeffa: 1\n'])
  let text = makeBase(random)
  const mutations = random.between(0, MOST_MUTATIONS + 1)
  for (let count = 0; count < mutations; count += 1) text = random.pick(MUTATIONS)(text, random)
  // Half a surrogate pair cannot be handed over.
  return Buffer.from(text).toString()
}

let bases: [string, ...string[]] | undefined

function makeBase(random: Random): string {
  bases ??= [USUAL, ...listCandidates().flatMap(({ text }) => (text.length > LONGEST_BASE ? [] : [text]))]
  const kind = random.next()
  if (kind < 0.3) return random.pick(bases)
  if (kind < 0.4) return USUAL
  if (kind < 0.45) return `{${JSON_HEAD},"x":${makeJson(random, 3)}}`
  const lines = Array.from({ length: random.between(1, 4) }, () => `${makeKey(random)}: ${makeNode(random, 3, '')}\n`)
  if (kind < 0.5) return `# c\n{${HEAD.trim().replaceAll('\n', ', ')}, x: ${makeFlow(random, 3)}}\n`
  return `${HEAD}${lines.join('')}`
}

function makeKey(random: Random): string {
  return random.chance(0.8) ? random.pick(['x', 'y', 'foo', 'bar', 'featureGates', 'evictionHard', 'systemReserved']) : random.pick(KEYS)
}

function makeScalar(random: Random): string {
  return random.pick(random.pick([NUMBERS, WORDS, WORDS, QUOTED]))
}

/** Behind a key or a dash: what stands there, or on the lines below. */
function makeNode(random: Random, depth: number, indent: string): string {
  const before = random.chance(0.08) ? random.pick(PROPERTIES) : ''
  const kind = random.next()
  if (depth === 0 || kind < 0.4) return before + makeScalar(random)
  if (kind < 0.46) return random.pick(ALIASES)
  if (kind < 0.62) return before + makeFlow(random, depth)
  const inner = `${indent}${random.pick([' ', '  ', '  ', '    '])}`
  if (kind < 0.7) return `${before}${makeBlockScalar(random, inner)}`
  const count = random.between(1, 4)
  if (kind < 0.87)
    return `${before}${Array.from({ length: count }, () => `\n${inner}${makeKey(random)}: ${makeNode(random, depth - 1, inner)}`).join('')}`
  const at = random.chance(0.3) ? indent : inner
  return `${before}${Array.from({ length: count }, () => `\n${at}- ${makeNode(random, depth - 1, `${at}  `)}`).join('')}`
}

function makeBlockScalar(random: Random, indent: string): string {
  const line = () =>
    `\n${random.chance(0.8) ? indent : random.pick(['', ' ', `${indent} `, `${indent}\t`, '\t'])}${random.pick(['a', 'b c', '', '# c', 'a: b', '- a', '\ta'])}`
  return `${random.chance(0.7) ? random.pick(['|', '>', '|-', '>-', '|+']) : random.pick(HEADERS)}${Array.from({ length: random.between(0, 4) }, line).join('')}`
}

function makeFlow(random: Random, depth: number): string {
  const inner = (): string => (depth <= 0 || random.chance(0.6) ? makeScalar(random) : makeFlow(random, depth - 1))
  const space = () => (random.chance(0.85) ? ' ' : random.pick(['', '\n   ', '\n', '  ', '\t', ' # c\n  ']))
  const properties = () => (random.chance(0.06) ? random.pick(PROPERTIES) : '')
  const count = random.between(0, 4)
  const isMap = random.chance(0.5)
  const item = () =>
    isMap
      ? `${makeKey(random)}${random.chance(0.9) ? ':' : random.pick([' :', '', '::'])}${space()}${properties()}${inner()}`
      : `${properties()}${inner()}`
  const items = Array.from({ length: count }, item).join(`,${space()}`)
  const end = random.chance(0.1) ? ',' : ''
  return isMap ? `{${items}${end}}` : `[${items}${end}]`
}

function makeJson(random: Random, depth: number): string {
  const kind = random.next()
  if (depth === 0 || kind < 0.4)
    return random.pick([
      '1',
      '-0',
      '1.0',
      '1e3',
      '1E400',
      '"a"',
      '"\\ud800"',
      '"\\ud83d\\ude00"',
      '"\\u2028"',
      'true',
      'null',
      '"\\/"',
      '9223372036854775807',
      '"é"',
      '[]',
    ])
  const count = random.between(0, 4)
  if (kind < 0.6) return `[${Array.from({ length: count }, () => makeJson(random, depth - 1)).join()}]`
  return `{${Array.from({ length: count }, () => `${random.pick(['"a"', '"b"', '"enabled"', '"cpu"', '""', '"__proto__"'])}:${makeJson(random, depth - 1)}`).join()}}`
}

type Mutation = (text: string, random: Random) => string

/** Where something begins or ends, mostly. */
function placeIn(text: string, random: Random): number {
  const any = random.between(0, text.length + 1)
  if (random.chance(0.3)) return any
  const boundary = /[\n:,{}[\]"' ]|$/g
  boundary.lastIndex = any
  const at = boundary.exec(text)?.index ?? text.length
  return Math.min(text.length, at + random.between(0, 3))
}

function insertAt(text: string, at: number, piece: string): string {
  return text.slice(0, at) + piece + text.slice(at)
}

function overLines(text: string, random: Random, change: (lines: string[], at: number) => void): string {
  const lines = text.split('\n')
  change(lines, random.between(0, lines.length))
  return lines.join('\n')
}

/** Instead of a value that stands behind a colon. */
function replaceValue(text: string, random: Random, make: (value: string) => string): string {
  const values = [...text.matchAll(/(?<=: )[^\n]+/g)]
  const [first, ...others] = values
  if (first === undefined) return text
  const { 0: value, index } = random.pick([first, ...others])
  return text.slice(0, index) + make(value) + text.slice(index + value.length)
}

const MUTATIONS: readonly [Mutation, ...Mutation[]] = [
  (text, random) => insertAt(text, placeIn(text, random), random.pick(PIECES)),
  (text, random) =>
    insertAt(text, placeIn(text, random), random.pick(random.pick([PROPERTIES, ALIASES, NUMBERS, WORDS, QUOTED, HEADERS, KEYS]))),
  (text, random) => {
    const at = placeIn(text, random)
    return text.slice(0, at) + text.slice(at + random.between(1, 5))
  },
  (text, random) => overLines(text, random, (lines, at) => lines.splice(at, 0, random.pick(LINES))),
  (text, random) => overLines(text, random, (lines, at) => lines.splice(at, 0, lines[random.between(0, lines.length)] ?? '')),
  (text, random) => overLines(text, random, (lines, at) => lines.splice(at, 1)),
  (text, random) => overLines(text, random, (lines, at) => lines.splice(at, 1, ` ${lines[at] ?? ''}`)),
  (text, random) => overLines(text, random, (lines, at) => lines.splice(at, 1, (lines[at] ?? '').slice(1))),
  (text, random) => replaceValue(text, random, () => makeNode(random, 2, '')),
  (text, random) => replaceValue(text, random, () => makeFlow(random, 2)),
  (text, random) => replaceValue(text, random, (value) => random.pick(PROPERTIES) + value),
  (text, random) => replaceValue(text, random, makeScalar.bind(undefined, random)),
  (text, random) => `${text}${text.endsWith('\n') ? '' : '\n'}${random.pick(LINES)}${random.chance(0.5) ? '\n' : ''}`,
  (text, random) =>
    `${random.pick(['\ufeff', '\ufeff\ufeff', '---\n', '# c\n', '\n', '--- ', '%YAML 1.1\n---\n', ' ', '? ', '&a ', '!t '])}${text}`,
  (text, random) => (random.chance(0.5) ? text.trimEnd() : text.replaceAll('\n', random.pick(['\r\n', '\r\n', '\r']))),
]
