// SPDX-License-Identifier: Apache-2.0
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax is that of systemd
import { readFileSync } from 'node:fs'
import t from 'tap'
import { classifyActivity, findWait, hasHitStartLimit, summarizeState } from '../../src/systemd/unit-activity.ts'
import { parseUnitProperties } from '../../src/systemd/unit-properties.ts'

/** Output of systemctl 252 for a unit like kubeadm's. */
const RUNNING = `MainPID=96
Result=success
NRestarts=2
ExecMainStartTimestampMonotonic=1928168460
ExecStart={ path=/usr/bin/kubelet ; argv[]=/usr/bin/kubelet $KUBELET_CONFIG_ARGS \${KUBELET_EXTRA_ARGS} sp ace q"x ; ignore_errors=no ; start_time=[Sat 2026-11-21 09:34:07 UTC] ; stop_time=[n/a] ; pid=96 ; code=(null) ; status=0/0 }
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/b.conf --kubeconfig=/k.conf" KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml "ODD=a \\"quoted\\" \\\\ back 'single' \\$x" PLAIN=1 "TAB=a\\tb" "NL=a\\nb"
EnvironmentFiles=/var/lib/kubelet/kubeadm-flags.env (ignore_errors=yes)
EnvironmentFiles=/etc/with (odd) name (ignore_errors=no)
LoadState=loaded
ActiveState=active
SubState=running
Job=
DropInPaths=/etc/systemd/system/kubelet.service.d/10-kubeadm.conf /etc/systemd/system/kubelet.service.d/90-kubelet-cfg-agent.conf
NeedDaemonReload=yes
StartLimitIntervalUSec=0
InvocationID=627648421f254ac98c4dd4e2686a14c2
`
const NOT_FOUND = `MainPID=0
Result=success
NRestarts=0
ExecMainStartTimestampMonotonic=0
Environment=
LoadState=not-found
ActiveState=inactive
SubState=dead
DropInPaths=
NeedDaemonReload=no
InvocationID=
`

t.test('knows a unit that sets state files aside', async (t) => {
  const before = (argv: string, ignores = 'yes') =>
    `ExecStartPre={ path=${argv.split(' ')[0]} ; argv[]=${argv} ; ignore_errors=${ignores} ; start_time=[n/a] ; pid=0 ; status=0/0 }\n`
  const dropIn = readFileSync('systemd/kubelet.service.d/90-kubelet-cfg-agent.conf', 'utf8')
  const line = /^ExecStartPre=-(.*) \\;$/m.exec(dropIn)?.[1]?.replace('%n', 'kubelet.service') ?? ''
  const programsOf = (lines: string) => parseUnitProperties(RUNNING + lines)?.setAsidePrograms
  const programs = ['/usr/bin/find', '/usr/bin/kubelet-cfg-agent', '/usr/bin/timeout']
  t.same(programsOf(before(`${line} ;`)), [programs])
  t.same(programsOf(before('/bin/true') + before(`${line} ;`)), [programs])
  t.same(programsOf(before('/opt/bin/kubelet-cfg-agent set-aside')), [['/opt/bin/kubelet-cfg-agent']])
  for (const other of ['/bin/set-asides', '/bin/rm -r /var/set-aside ', '/bin/tool set-aside', '/bin/kubelet-cfg-agent status'])
    t.same(programsOf(before(other)), [], other)
  t.same(programsOf(before(`${line} ;`, 'no')), [], 'its failure keeps kubelet from its start')
  t.same(programsOf(before('/usr/bin/kubelet-cfg-agent status') + before('/bin/tool set-aside')), [], 'of two lines')
  t.same(programsOf(''), [])
})

t.test('parses a running unit', async (t) => {
  const unit = parseUnitProperties(RUNNING)
  t.match(unit, {
    mainPid: 96,
    nRestarts: 2,
    startedAtUs: 1928168460,
    invocationId: '627648421f254ac98c4dd4e2686a14c2',
    needDaemonReload: true,
    startLimited: false,
    hasJob: false,
  })
  t.equal(parseUnitProperties(RUNNING.replace('Job=', 'Job=734'))?.hasJob, true)
  t.strictSame(unit?.exec, {
    path: '/usr/bin/kubelet',
    words: ['/usr/bin/kubelet', '$KUBELET_CONFIG_ARGS', '${KUBELET_EXTRA_ARGS}', 'sp', 'ace', 'q"x'],
  })
  t.equal(unit?.environment.get('KUBELET_KUBECONFIG_ARGS'), '--bootstrap-kubeconfig=/b.conf --kubeconfig=/k.conf')
  t.equal(unit?.environment.get('KUBELET_CONFIG_ARGS'), '--config=/var/lib/kubelet/config.yaml')
  t.equal(unit?.environment.get('ODD'), `a "quoted" \\ back 'single' $x`)
  t.equal(unit?.environment.get('TAB'), 'a\tb')
  t.equal(unit?.environment.get('NL'), 'a\nb')
  t.strictSame(unit?.environmentFiles, [
    { path: '/var/lib/kubelet/kubeadm-flags.env', optional: true },
    { path: '/etc/with (odd) name', optional: false },
  ])
  t.equal(unit?.dropInPaths.length, 2)
})

t.test('parses the quoting of later versions, and bytes', async (t) => {
  const unit = parseUnitProperties(RUNNING.replace(/^Environment=.*$/m, () => `Environment=$'A=b\\tc \\'d\\'' "B=\\303\\244\\x21" C=ä`))
  t.strictSame(
    [...(unit?.environment ?? [])],
    [
      ['A', "b\tc 'd'"],
      ['B', 'ä!'],
      ['C', 'ä'],
    ],
  )
})

t.test('an argument may contain a line break', async (t) => {
  const unit = parseUnitProperties(RUNNING.replace('sp ace', '--a=1\nMore=2'))
  t.strictSame(unit?.exec?.words.slice(3), ['--a=1\nMore=2', 'q"x'])
  t.equal(unit?.mainPid, 96)
})

t.test('parses a unit that does not exist, and rejects other output', async (t) => {
  t.match(parseUnitProperties(NOT_FOUND), {
    loadState: 'not-found',
    exec: undefined,
    invocationId: '',
    environmentFiles: [],
    startLimited: true,
  })
  for (const text of ['', 'nonsense', NOT_FOUND.replace('MainPID=0', 'MainPID=x'), NOT_FOUND.replace(/ActiveState.*\n/, '')])
    t.equal(parseUnitProperties(text), undefined)
})

t.test('maps states to activities and summaries', async (t) => {
  const cases = [
    ['loaded active running success 7', 'running', 'active (running)'],
    ['loaded active start-post success 0', 'starting', 'active (start-post)'],
    ['loaded activating start success 7', 'starting', 'activating (start)'],
    ['loaded activating auto-restart exit-code 0', 'auto-restart', 'activating (auto-restart, exit-code)'],
    ['loaded failed failed-before-auto-restart exit-code 0', 'auto-restart', 'failed (failed-before-auto-restart, exit-code)'],
    ['loaded activating auto-restart-queued signal 0 queued', 'auto-restart', 'activating (auto-restart-queued, signal)'],
    ['loaded activating auto-restart-queued signal 0', 'left-down', 'activating (auto-restart-queued, signal)'],
    ['loaded deactivating stop-sigterm success 7', 'stopping', 'deactivating (stop-sigterm)'],
    ['loaded inactive dead success 0', 'stopped', 'inactive (dead)'],
    ['masked inactive dead success 0', 'stopped', 'inactive (dead)'],
    ['loaded failed failed timeout 0', 'stopped', 'failed (timeout)'],
    ['loaded failed failed start-limit-hit 0', 'failed', 'failed (start-limit-hit)'],
    ['loaded maintenance x success 0', 'failed', 'maintenance (x)'],
    ['not-found inactive dead success 0', 'not-found', 'inactive (dead)'],
    ['loaded inactive dead success 0 queued', 'queued', 'inactive (dead)'],
    ['loaded failed failed exit-code 0 queued', 'queued', 'failed (exit-code)'],
    ['loaded active running success 7 queued', 'running', 'active (running)'],
    ['loaded activating auto-restart exit-code 0 queued', 'auto-restart', 'activating (auto-restart, exit-code)'],
    ['loaded deactivating stop-sigterm success 7 queued', 'stopping', 'deactivating (stop-sigterm)'],
    ['not-found inactive dead success 0 queued', 'not-found', 'inactive (dead)'],
    ['not-found active running success 7', 'running', 'active (running)'],
  ] as const
  for (const [text, activity, summary] of cases) {
    const [loadState = '', activeState = '', subState = '', result = '', mainPid, job] = text.split(' ')
    const unit = { loadState, activeState, subState, result, mainPid: Number(mainPid), startTimedOut: false, hasJob: job === 'queued' }
    t.equal(classifyActivity(unit), activity, text)
    t.equal(summarizeState(unit), summary)
    t.equal(hasHitStartLimit(unit), summary === 'failed (start-limit-hit)')
  }
})

t.test('a start that timed out is no stop', async (t) => {
  const show = (facts: Readonly<Record<string, string>>) => {
    const shown = {
      LoadState: 'loaded',
      ActiveState: 'failed',
      SubState: 'failed',
      Result: 'timeout',
      MainPID: '0',
      NRestarts: '0',
      ExecMainStartTimestampMonotonic: '1000000000',
      ExecMainExitTimestampMonotonic: '1090000000',
      InactiveExitTimestampMonotonic: '1000000000',
      ActiveEnterTimestampMonotonic: '0',
      TimeoutStartUSec: '1min 30s',
      ...facts,
    }
    const text = Object.entries(shown).map(([name, value]) => `${name}=${value}`)
    const unit = parseUnitProperties(text.join('\n'))
    return unit && classifyActivity(unit)
  }
  t.equal(show({}), 'failed', 'it was never active')
  t.equal(show({ ActiveEnterTimestampMonotonic: '900000000' }), 'failed', 'or only in an earlier run')
  t.equal(show({ ActiveEnterTimestampMonotonic: '1000000100' }), 'stopped', 'it was active: a stop timed out')
  t.equal(show({ ExecMainExitTimestampMonotonic: '1050000000' }), 'stopped', 'it ended before its time: an operator stopped it')
  t.equal(show({ TimeoutStartUSec: 'infinity' }), 'stopped', 'a start without a limit does not time out')
  t.equal(show({ TimeoutStartUSec: '1.5min' }), 'failed')
  t.equal(show({ TimeoutStartUSec: '' }), 'failed', 'a limit that is not known')
})

t.test('how the main process ended: the numbers are those of waitid(2) and signal(7)', async (t) => {
  const killedBy = (code: number, status: number) =>
    parseUnitProperties(`${RUNNING}ExecMainCode=${code}\nExecMainStatus=${status}\n`)?.killedBy
  t.equal(killedBy(0, 0), undefined, 'it runs')
  t.equal(killedBy(1, 9), undefined, 'it exited with code 9')
  t.equal(killedBy(2, 9), 'SIGKILL')
  t.equal(killedBy(3, 11), 'SIGSEGV')
  t.equal(killedBy(2, 31), 'SIGSYS')
  t.equal(killedBy(2, 34), 'signal 34')
  t.equal(parseUnitProperties(RUNNING)?.killedBy, undefined, 'not known')
})

t.test('since when a unit waits for its start', async (t) => {
  const restartWait = { sinceUs: 5, untilUs: 15 }
  const shown = { restartWait, down: { activeExitUs: 3, inactiveEnterUs: 9, mainExitUs: 7 } }
  t.same(findWait(shown, 'auto-restart'), { restartWait })
  t.same(findWait(shown, 'queued'), { restartWait: { sinceUs: 7 } })
  t.same(findWait(shown, 'running'), {})
})
