// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Metrics } from '../../src/report/metrics.ts'
import { MetricsTextfile } from '../../src/report/textfile.ts'
import { until } from '../until.ts'
import { FakeLog } from './fakes.ts'

function open(t: Test, path = join(t.testdir({ dir: {} }), 'dir', 'agent.prom')) {
  const log = new FakeLog()
  const state = { text: 'metric 1\n', renders: 0 }
  const render = async () => {
    state.renders += 1
    return state.text
  }
  const file = new MetricsTextfile({ path, render, log, everyMs: 5 })
  t.teardown(() => file.stop())
  return { path, log, state, file, read: () => readFileSync(path, 'utf8') }
}

const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined

t.test('is there at once, is written again and again, and stays', async (t) => {
  const { path, file, state, read } = open(t)
  file.start()
  await until(() => exists(path), 'the file')
  const first = statSync(path).mtimeMs
  await until(() => statSync(path).mtimeMs !== first, 'another write of the same text')
  state.text = 'metric 2\n'
  await until(() => read() === 'metric 2\n', 'the new text')
  await file.stop()
  t.equal(read(), 'metric 2\n')
  t.same(readdirSync(join(path, '..')), ['agent.prom'], 'nothing else is left')
})

t.test('everybody may read it, whatever the umask', async (t) => {
  const before = process.umask(0o077)
  t.teardown(() => process.umask(before))
  const { path, file } = open(t)
  file.start()
  await until(() => exists(path), 'the file')
  t.equal(statSync(path).mode & 0o777, 0o644)
  await file.stop()
})

t.test('a reader never sees half of it', async (t) => {
  const { path, file, state, read } = open(t)
  const texts = ['a', 'b'].map((letter) => `${letter.repeat(200_000)}\n`)
  file.start()
  await until(() => exists(path), 'the file')
  for (let round = 0; round < 20; round += 1) {
    state.text = texts[round % 2] ?? ''
    await until(() => {
      const text = read()
      if (text.length > 20 && !texts.includes(text)) throw new Error(`half a file: ${text.length} characters`)
      return text === state.text
    }, 'the new text')
  }
  await file.stop()
  t.equal(readdirSync(join(path, '..')).length, 1)
})

t.test('a write that fails is logged once and tried again', async (t) => {
  const path = join(t.testdir({}), 'absent', 'agent.prom')
  const { log, file, state, read } = open(t, path)
  file.start()
  await until(() => state.renders > 5, 'more attempts')
  t.equal(log.lines.length, 1)
  t.match(log.said('warn')[0], /cannot write metrics to .*absent\/agent\.prom.*ReadWritePaths=/)
  mkdirSync(join(path, '..'))
  await until(() => exists(path), 'the file')
  await until(() => log.said('info').length > 0, 'the line that it works again')
  t.same(log.said('info'), ['metrics are written again'])
  t.equal(read(), 'metric 1\n')
  rmSync(join(path, '..'), { recursive: true, force: true, maxRetries: 10 })
  // The first of them may be of a write in whose middle the directory went.
  await until(() => log.said('warn').length > 1, 'another warning')
  await file.stop()
})

t.test('metrics that cannot be rendered leave the last file', async (t) => {
  const path = join(t.testdir({}), 'agent.prom')
  const log = new FakeLog()
  const state = { fails: false }
  const render = async () => {
    if (state.fails) throw new Error('no metrics')
    return 'metric 1\n'
  }
  const file = new MetricsTextfile({ path, render, log, everyMs: 5 })
  t.teardown(() => file.stop())
  file.start()
  await until(() => exists(path), 'the file')
  state.fails = true
  await until(() => log.lines.length > 0, 'the warning')
  await file.stop()
  t.equal(readFileSync(path, 'utf8'), 'metric 1\n')
})

t.test('no link in the directory leads it elsewhere', async (t) => {
  const directory = t.testdir({ precious: 'precious' })
  const precious = join(directory, 'precious')
  const path = join(directory, 'agent.prom')
  for (const name of ['agent.prom', `.agent.prom.${process.pid}`]) symlinkSync(precious, join(directory, name))
  const { file } = open(t, path)
  file.start()
  await until(() => readFileSync(path, 'utf8') === 'metric 1\n', 'the file in place of the link')
  await file.stop()
  t.equal(readFileSync(precious, 'utf8'), 'precious')
  t.same(readdirSync(directory).sort(), ['agent.prom', 'precious'])
})

t.test('a directory of its name is left alone', async (t) => {
  const path = join(t.testdir({ 'agent.prom': { file: 'x' } }), 'agent.prom')
  const { log, file } = open(t, path)
  file.start()
  await until(() => log.lines.length > 0, 'the warning')
  t.equal(readFileSync(join(path, 'file'), 'utf8'), 'x')
  writeFileSync(join(path, 'still'), 'writable')
  await file.stop()
})

t.test('has no metric that the node exporter has of itself', async (t) => {
  const metrics = new Metrics({ version: '1' })
  const [own, { body }] = [await metrics.renderOwn(), await metrics.render()]
  t.notMatch(own, /^(process|node|go|promhttp)_/m)
  t.match(own, /^kubelet_cfg_agent_build_info\{.*\} 1$/m)
  t.ok(own.endsWith('\n'), 'the last line has an end')
  t.match(body, /^process_start_time_seconds \d/m)
  t.ok(body.startsWith(own.trimEnd().split('\n')[0] ?? 'x'))
})
