// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import t from 'tap'
import { createLog } from '../../src/systemd/journal.ts'
import { chooseFormat, type LogFormat, type LogTarget, terminalLine } from '../../src/systemd/log-format.ts'
import { LOADER } from '../typescript/loader.ts'

function capture(format: LogFormat, level: 'debug' | 'info' | 'warn' | 'error' = 'debug') {
  const lines: string[] = []
  const log = createLog({ level, format, destination: { write: (text) => lines.push(text) }, wallMs: () => 1_700_000_000_000 })
  return { log, lines }
}

t.test('in the journal as JSON: the priority, then the message, then the fields', async (t) => {
  const { log, lines } = capture('journal-json')
  log.info('assigned ConfigMap was updated', { path: '/api/v1/x', uid: 'u' })
  log.debug('d')
  log.warn('w')
  log.error('e')
  t.same(lines, [
    '<6>{"level":"info","msg":"assigned ConfigMap was updated","path":"/api/v1/x","uid":"u"}\n',
    '<7>{"level":"debug","msg":"d"}\n',
    '<4>{"level":"warn","msg":"w"}\n',
    '<3>{"level":"error","msg":"e"}\n',
  ])
})

t.test('elsewhere: with the time and without a prefix', async (t) => {
  const { log, lines } = capture('json')
  log.info('updating Node.Status.Config')
  t.same(lines, ['{"level":"info","time":"2023-11-14T22:13:20.000Z","msg":"updating Node.Status.Config"}\n'])
})

t.test('the level is a threshold that can change', async (t) => {
  for (const format of ['journal', 'journal-json', 'terminal', 'json'] as const) {
    const { log, lines } = capture(format, 'warn')
    log.info('no')
    log.warn('yes')
    log.error('yes')
    t.equal(lines.length, 2)
    log.setLevel('debug')
    log.debug('yes')
    t.equal(lines.length, 3)
  }
})

t.test('an error is logged with its causes and codes; with its stack only if it is a bug', async (t) => {
  const { log, lines } = capture('journal-json')
  const disk = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  for (const name of ['error', 'err']) log.warn('m', { [name]: new Error('could not write meta/assigned', { cause: disk }) })
  const expected = { message: 'could not write meta/assigned', cause: { message: 'no space left on device', code: 'ENOSPC' } }
  t.same(
    lines.map((line) => JSON.parse(line.slice(3))),
    [
      { level: 'warn', msg: 'm', error: expected },
      { level: 'warn', msg: 'm', err: expected },
    ],
  )
  log.error('m', { error: new Error('cannot write f: no space left on device; free some', { cause: disk }) })
  t.same(
    JSON.parse(lines[2]?.slice(3) ?? '').error,
    { message: 'cannot write f: no space left on device; free some' },
    'a cause that the message quotes is left out',
  )
  log.error('m', { error: new TypeError('x is undefined') })
  t.match(JSON.parse(lines[3]?.slice(3) ?? ''), { error: { message: 'TypeError: x is undefined', stack: /journal\.test/ } })
})

t.test('secrets are redacted, wherever they are', async (t) => {
  const secret = 's3cr3t'
  const names = ['token', 'data', 'client-key-data', 'certificate-authority-data', 'Authorization', 'password', 'id_token', 'binaryData']
  const deep = fc.constantFrom(
    (fields: object) => fields,
    (fields: object) => ({ users: [{ user: fields }] }),
    (fields: object) => ({ error: Object.assign(new Error('m'), fields) }),
    (fields: object) => ({ error: new Error('m', { cause: fields }) }),
    (fields: object) => ({ map: new Map(Object.entries(fields)) }),
  )
  const property = fc.property(
    fc.constantFrom(...names),
    deep,
    fc.constantFrom<LogFormat>('journal', 'journal-json', 'json', 'terminal'),
    (name, wrap, format) => {
      const { log, lines } = capture(format)
      log.info('m', wrap({ [name]: secret }) as Record<string, unknown>)
      const line = lines[0] ?? ''
      // Text shows an error as its chain of messages, without fields.
      const isText = format === 'terminal' || format === 'journal'
      return lines.length === 1 && !line.includes(secret) && (isText || line.includes('[redacted]'))
    },
  )
  t.doesNotThrow(() => fc.assert(property))
  const { log, lines } = capture('journal-json')
  log.info(`sent Authorization: Bearer ${secret}`, {
    detail: `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY----- tail`,
  })
  t.notMatch(lines[0], secret)
  t.match(lines[0], 'tail')
  log.info('m', { kubeletConfigKey: 'kubelet', key: 'content@kubelet' })
  t.match(lines[1], '"kubeletConfigKey":"kubelet","key":"content@kubelet"', 'a field that is not a secret is kept')
})

t.test('each call writes one line of valid JSON, whatever the fields contain', async (t) => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const anything = fc.oneof(
    fc.anything({ withBigInt: true, withMap: true, withSet: true, withDate: true, withTypedArray: true }),
    fc.constant(circle),
  )
  const property = fc.property(fc.string(), fc.dictionary(fc.string(), anything), (message, fields) => {
    const { log, lines } = capture('journal-json')
    log.info(message, fields)
    const line = lines[0] ?? ''
    return lines.length === 1 && line.indexOf('\n') === line.length - 1 && JSON.parse(line.slice(3)).msg === message
  })
  t.doesNotThrow(() => fc.assert(property))
  const { log, lines } = capture('journal-json')
  log.info('m', { msg: 'a', level: 'b', time: 'c', long: 'x'.repeat(100_000) })
  t.match(JSON.parse(lines[0]?.slice(3) ?? ''), { msg: 'm', level: 'info', msg_: 'a', level_: 'b', time_: 'c' })
  t.ok((lines[0]?.length ?? 0) < 10_000)
})

t.test('the format for a terminal', async (t) => {
  const line = (fields: Record<string, unknown>, colours = false) => terminalLine('warn', 'config failed', fields, 0, colours)
  t.match(line({ uid: 'u', n: 3, why: 'two words', none: undefined }), /^\d\d:\d\d:00 ! config failed {2}uid=u n=3 why="two words"\n$/)
  t.match(line({}, true), '\u001b[33mconfig failed\u001b[39m')
  const property = fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (message, value) =>
    /^[^\p{Cc}]*\n$/u.test(terminalLine('info', message, { value }, 0, false)),
  )
  t.doesNotThrow(() => fc.assert(property), 'no control characters')
})

t.test('the format depends on the setting and on where stdout leads', async (t) => {
  const file = { isTTY: false, dev: 9, ino: 42 }
  const terminal = { ...file, isTTY: true }
  const choices = ['auto', 'json', 'text'] as const
  const formatsFor = (journalStream: string | undefined, target: LogTarget) =>
    choices.map((choice) => chooseFormat(choice, journalStream, target))
  t.same(formatsFor('9:42', file), ['journal', 'journal-json', 'journal'])
  t.same(formatsFor('9:41', file), ['json', 'json', 'terminal'], 'the variable is inherited, but stdout goes elsewhere')
  t.same(formatsFor(undefined, file), ['json', 'json', 'terminal'])
  t.same(formatsFor('9:41', terminal), ['terminal', 'json', 'terminal'])
})

t.test('a line is written before the call returns, even if the process is killed just afterwards', async (t) => {
  const script = `
    import { createLog } from ${JSON.stringify(new URL('../../src/systemd/journal.ts', import.meta.url).href)}
    const log = createLog({ level: 'info', format: 'journal' })
    for (let line = 0; line < 2000; line += 1) log.info('line ' + line)
    process.kill(process.pid, 'SIGKILL')
    for (;;);`
  const { stdout } = spawnSync(process.execPath, ['--import', LOADER, '--input-type=module', '-e', script], { encoding: 'utf8' })
  t.equal(stdout.trim().split('\n').length, 2000)
})
