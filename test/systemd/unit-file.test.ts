// SPDX-License-Identifier: Apache-2.0
/** Checks the installed units with systemd-analyze. It needs neither root nor a running systemd. */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const UNITS = resolve(import.meta.dirname, '../../systemd')
const UNIT = join(UNITS, 'kubelet-cfg-agent.service')
const ANALYZE = '/usr/bin/systemd-analyze'
const skip = existsSync(ANALYZE) ? false : `${ANALYZE} is not installed`
/** Tenths: systemd-analyze compares integers. */
const MOST_EXPOSURE = 20
/** systemd before it ignores `OpenFile=`, and says so in one line. */
const FIRST_WITH_OPEN_FILE = 253
const REMARK_OF_OLDER = /^[^\n]*: Unknown key (name )?'OpenFile' in section '?\[?Service\]?'?, ignoring\.\n$/

const run = promisify(execFile)
async function analyze(...args: string[]) {
  return run(ANALYZE, ['--no-pager', ...args], { env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' } })
}

t.test('the exposure of the agent is at most 2.0', { skip }, async (t) => {
  const { stdout } = await analyze('security', '--offline=true', `--threshold=${MOST_EXPOSURE}`, UNIT)
  const exposure = Number(/Overall exposure level for \S+: (\d+\.\d)/.exec(stdout)?.[1])
  t.ok(exposure > 0 && exposure <= MOST_EXPOSURE / 10, `${exposure}`)
  t.match(stdout, /✓ CapabilityBoundingSet=~CAP_SYS_ADMIN/, 'it has no capabilities')
})

t.test('systemd-analyze verify reports nothing but a key that is newer than it', { skip }, async (t) => {
  const directory = t.testdir({ 'kubelet.service': '[Service]\nExecStart=/bin/true --flags $KUBELET_CONFIG_ARGS\n' })
  cpSync(UNITS, directory, { recursive: true })
  // The program is missing where the package is not installed.
  const unit = join(directory, 'kubelet-cfg-agent.service')
  writeFileSync(unit, readFileSync(UNIT, 'utf8').replaceAll('=/usr/bin/kubelet-cfg-agent ', '=/bin/true '))
  t.match(readFileSync(unit, 'utf8'), 'ExecStart=/bin/true run')
  const { stdout: version } = await analyze('--version')
  const remarks = Number(/^systemd (\d+)/.exec(version)?.[1]) < FIRST_WITH_OPEN_FILE ? REMARK_OF_OLDER : /^$/
  for (const [name, expected] of [
    ['kubelet-cfg-agent.service', remarks],
    ['kubelet.service', /^$/],
  ] as const) {
    const { stdout, stderr } = await analyze('verify', '--man=no', join(directory, name))
    t.match(stdout + stderr, expected, name)
  }
})

t.test('these checks can fail', { skip }, async (t) => {
  const directory = t.testdir({
    'open.service': '[Service]\nExecStart=/bin/true\n',
    'wrong.service': '[Service]\nExecStart=/bin/true\nWatchdogSecs=3min\n',
  })
  await t.rejects(analyze('security', '--offline=true', `--threshold=${MOST_EXPOSURE}`, join(directory, 'open.service')))
  const { stderr } = await analyze('verify', '--man=no', join(directory, 'wrong.service'))
  t.match(stderr, 'WatchdogSecs')
})

t.test('the settings that the agent depends on', async (t) => {
  const lines = readFileSync(UNIT, 'utf8').split('\n')
  const settings = new Map(lines.filter((line) => /^[A-Z]\w+=/.test(line)).map((line) => line.split(/=(.*)/s, 2) as [string, string]))
  t.equal(settings.get('Type'), 'notify')
  t.equal(settings.get('NotifyAccess'), 'all', 'a child process sends the messages')
  t.equal(settings.get('Restart'), 'always')
  t.equal(settings.get('StartLimitIntervalSec'), '0')
  t.equal(settings.get('WatchdogSec'), '3min', 'much longer than the pace of messages')
  t.equal(settings.get('After'), 'systemd-resolved.service', 'no order with kubelet')
  for (const ordering of ['Before', 'Requires', 'Wants', 'BindsTo', 'PartOf', 'Conflicts']) t.notOk(settings.has(ordering), ordering)
  t.notOk(settings.has('MemoryDenyWriteExecute'), 'V8 could not start with it')
  t.equal(settings.get('SystemCallErrorNumber'), 'EPERM')
})
