// SPDX-License-Identifier: Apache-2.0
/** Checks the installed units with systemd-analyze. It needs neither root nor a running systemd. */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { defaults } from '../settings/settled-settings.ts'

const UNITS = resolve(import.meta.dirname, '../../systemd')
const UNIT = join(UNITS, 'kubelet-cfg-agent.service')
const ANALYZE = '/usr/bin/systemd-analyze'
const skip = existsSync(ANALYZE) ? false : `${ANALYZE} is not installed`
/** Tenths: systemd-analyze compares integers. */
const MOST_EXPOSURE = 20
/** A lost one alone stays below that exposure. */
const PROTECTIONS = [
  ...['ProtectSystem', 'ProtectHome', 'PrivateTmp', 'PrivateDevices', 'NoNewPrivileges', 'ProtectProc', 'LockPersonality'],
  ...['ProtectKernelTunables', 'ProtectKernelModules', 'ProtectKernelLogs', 'ProtectControlGroups', 'ProtectClock'],
  ...['ProtectHostname', 'RestrictRealtime', 'RestrictSUIDSGID', 'SystemCallArchitectures'],
]
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
  for (const name of PROTECTIONS) t.match(stdout, new RegExp(`^✓ ${name}= `, 'm'), 'a whole protection, not a part of one')
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

/** Each value with what would be lost without it. */
const NEEDED: Readonly<Record<string, readonly [value: string, why: string]>> = {
  Type: ['notify', 'the installation waits for the first pass'],
  NotifyAccess: ['all', 'a child process sends the messages'],
  Restart: ['always', 'nobody else brings a kubelet back'],
  RestartSec: ['5', 'a failing config is left late while no agent runs'],
  StartLimitIntervalSec: ['0', 'systemd never gives the agent up'],
  WantedBy: ['multi-user.target', 'an agent that is enabled runs after a reboot'],
  WatchdogSec: ['3min', 'much longer than the pace of messages'],
  After: ['systemd-resolved.service', 'no order with kubelet'],
  StateDirectory: [relative('/var/lib', defaults.dynamicConfigDir), 'systemd makes it again, and it is writable'],
  StateDirectoryMode: ['0700', 'only root says what kubelet starts with'],
  RuntimeDirectory: [relative('/run', defaults.runtimeDir), 'the same of what ends with the boot'],
  RuntimeDirectoryMode: ['0700', 'only root says how kubelet was'],
  RuntimeDirectoryPreserve: ['yes', 'a restart of the agent forgets no failure and no restart of kubelet'],
  UMask: ['0077', 'only root reads what the agent writes'],
  Slice: ['-.slice', 'a config that starves system.slice does not starve the agent that leaves it'],
  MemoryMin: ['64M', 'the same of a node without memory: no slice above has to reserve it too'],
  CPUWeight: ['20', 'a share beside that of system.slice'],
  MemoryMax: ['512M', 'a plugin of the kubeconfig does not take the memory of the node'],
  TasksMax: ['256', 'nor its process numbers'],
  OOMPolicy: ['continue', 'nor the agent with it'],
  OOMScoreAdjust: ['-900', 'killed late, but before kubelet'],
  LimitCORE: ['0', 'the memory of the agent has credentials'],
  Environment: ['HOME=/tmp', 'plugins write to the private /tmp'],
  SystemCallErrorNumber: ['EPERM', 'Node.js works without some calls'],
}

t.test('the settings that the agent depends on', async (t) => {
  const lines = readFileSync(UNIT, 'utf8').split('\n')
  const settings = new Map(lines.filter((line) => /^[A-Z]\w+=/.test(line)).map((line) => line.split(/=(.*)/s, 2) as [string, string]))
  for (const [name, [value, why]] of Object.entries(NEEDED)) t.equal(settings.get(name), value, `${name}: ${why}`)
  for (const ordering of ['Before', 'Requires', 'Wants', 'BindsTo', 'PartOf', 'Conflicts']) t.notOk(settings.has(ordering), ordering)
  t.notOk(settings.has('MemoryDenyWriteExecute'), 'V8 could not start with it')
})
