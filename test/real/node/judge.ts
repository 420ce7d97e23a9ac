// SPDX-License-Identifier: Apache-2.0
/**
 * The node's own kubelet as judge, asked from inside the agent's sandbox: what a real kubelet
 * accepts and refuses, and that neither stage leaves anything on the node or disturbs the kubelet
 * that runs.
 */
import { strict as assert } from 'node:assert'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HowFar, JudgeRequest, JudgeStage, KubeletJudgement } from '../../../src/preflight/kubelet/judgement.ts'
import { SANDBOX_LIMITS, sandboxArguments } from '../../../src/preflight/kubelet/sandbox.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { OLD_MINOR } from '../lab/node-choice.ts'
import { run } from '../lab/processes.ts'
import { scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import type { Answer, Questions } from './judge-program.ts'
import { BRICK, crashOf } from './kubeadm-files.ts'
import { type Node, withNode } from './node.ts'

const ROOT = join(import.meta.dirname, '../../..')
const UNIT = 'judge-lab.service'
const HOME = '/var/lib/kubelet-cfg-agent'
/** With the parts that it loads beside it. */
const PROGRAM = `${HOME}/judge/kubelet-cfg-agent.mjs`
/** Of the agent, in its own unit and so in the one made of it. */
const DIRECTORY = '/run/kubelet-cfg-agent'

/** Without an answer, kubelet 1.20 looks for Docker for 5 s. */
const LINGERING = { standIn: ['/bin/sh', '-c', 'shift; exec "$@"', 'alone'] }

type Expected = readonly [what: string, changes: object, kind: KubeletJudgement['kind'], says: RegExp]

const LOADING: readonly Expected[] = [
  ['the config that it runs on', {}, 'accepted', /^kubelet 1\.20\.2 loaded and validated the config$/],
  ['unknown feature gate', { featureGates: { NoSuchGate: true } }, 'refused', /^validate unrecognized feature gate: NoSuchGate$/],
  ['out of range', { kubeAPIQPS: -1 }, 'refused', /^validate invalid configuration: kubeAPIQPS .* -1 must not be a negative number$/],
  [
    'wrong type',
    { maxPods: 'secret' },
    'refused',
    /^load failed to load Kubelet config file kubelet, error failed to decode: (?!.*secret)/,
  ],
  ['no kind', { kind: undefined, a: 'secret' }, 'refused', /^load .*Object 'Kind' is missing$/],
  ['a file that is not there', x509('/etc/none.crt'), 'refused', /^validate unable to load client CA file \/etc\/none\.crt/],
  ['a file that only root reads', x509('/root/secret/ca.crt'), 'accepted', /./],
  ['a file that not even root reads', x509('/root/foreign.crt'), 'unjudged', /failed, perhaps because of its sandbox: .*permission denied/],
  ['a file beside it', x509('ca.crt'), 'accepted', /./],
  ['one beside it that is not there', x509('other.crt'), 'refused', /^validate unable to load client CA file other\.crt/],
  ['a log in JSON', { logging: { format: 'json' } }, 'accepted', /./],
  ['what it finds out later', { systemReserved: { cpu: 'banana' } }, 'accepted', /./],
]

const WAITED = /^kubelet \S+ started with the config until it waited for its container runtime$/

const STARTING: readonly Expected[] = [
  ['the config that it runs on', {}, 'accepted', /^kubelet 1\.20\.2 started with the config until it needed its container runtime$/],
  ['without rotation', { rotateCertificates: false }, 'accepted', /./],
  ['with cgroups', { cgroupsPerQOS: true }, 'accepted', /./],
  ['with the cgroups of systemd', { cgroupsPerQOS: true, cgroupDriver: 'systemd' }, 'accepted', /./],
  ['a log in JSON', { logging: { format: 'json' } }, 'accepted', /./],
  [
    'the config that bricks nodes',
    BRICK,
    'refused',
    /^validate failed to run Kubelet: invalid configuration: cgroup-root \["nope"\] doesn't exist$/,
  ],
  [
    'one log file a container',
    crashOf(OLD_MINOR).changes,
    'refused',
    /^validate .*failed to initialize container log manager: invalid MaxFiles 1, must be > 1$/,
  ],
  ['no quantity', { systemReserved: { cpu: 'banana' } }, 'refused', /^validate failed to run Kubelet: quantities must match/],
  [
    'unknown eviction signal',
    { evictionHard: { 'nodefs.banana': '1Mi' } },
    'refused',
    /^validate .*unsupported eviction signal nodefs\.banana$/,
  ],
  ['CPUs that are not there', { reservedSystemCPUs: '0-900' }, 'refused', /^validate .*cpuset/],
]

/** From 1.30 on. */
const SERVING: readonly Expected[] = [
  ['the config that it runs on', {}, 'accepted', WAITED],
  ['with cgroups', { cgroupsPerQOS: true }, 'accepted', WAITED],
  ['with the cgroups of systemd', { cgroupsPerQOS: true, cgroupDriver: 'systemd' }, 'accepted', WAITED],
  ['with a certificate from the API server', { serverTLSBootstrap: true }, 'accepted', WAITED],
  ['without a server', { enableServer: false }, 'accepted', WAITED],
  ['a log in JSON', { logging: { format: 'json' } }, 'accepted', WAITED],
  ['at a port below 1024', { port: 443 }, 'accepted', /at an address or a port that its sandbox does not have$/],
  ['at an address of another machine', { address: '192.0.2.7' }, 'accepted', /at an address or a port that its sandbox does not have$/],
  ['no address', { address: 'localhost' }, 'refused', /^validate listen tcp: lookup <nil>: no such host$/],
  ['one port twice', { port: 10250, readOnlyPort: 10250 }, 'refused', /^validate listen tcp \S+:10250: bind: address already in use$/],
  ['one port twice, in JSON', { port: 10250, readOnlyPort: 10250, logging: { format: 'json' } }, 'refused', /address already in use$/],
  ['no cipher suite for HTTP/2', { tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'] }, 'refused', /^validate http2: /],
  ['no certificate', { tlsCertFile: '/etc/hosts', tlsPrivateKeyFile: '/etc/hosts' }, 'refused', /tls: failed to find any PEM data/],
  ['the config that bricks nodes', BRICK, 'refused', /^validate failed to run Kubelet: invalid configuration: cgroup /],
  ['no quantity', { systemReserved: { cpu: 'banana' } }, 'refused', /^validate failed to run Kubelet: .*quantities must match/],
  ['unknown eviction signal', { evictionHard: { 'nodefs.banana': '1Mi' } }, 'refused', /unsupported eviction signal nodefs\.banana$/],
  ['CPUs that are not there', { reservedSystemCPUs: '0-900' }, 'refused', /^validate .*reserved-cpus: 0-900 is not a subset/],
  [
    'a directory that it cannot make here',
    { podLogsDir: '/srv/pods' },
    'unjudged',
    /failed, perhaps because of its sandbox: .*read-only file system$/,
  ],
]

function x509(clientCAFile: string): object {
  return { authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile } } }
}

export function addJudgeScenarios(plane: ControlPlane, program: string): void {
  scenario("node: judge: the node's own kubelet says what it would do with a config", (step) =>
    withNode(plane, program, { name: 'judge-node', agent: 'absent' }, async (node) => {
      const judge = await step('a judge in the sandbox of the agent', () => installJudge(plane, node))
      await step('a sandbox can write to its own directory alone', () => listWritable(node, ['to-kubeconfig', 'to-runtime']))
      const before = await step('what there is on the node', () => lookAround(node))
      await step('loading', () => judgeAll(judge, 'load', LOADING))
      await step('starting', () => judgeAll(judge, 'deep', STARTING))
      await step('a dollar sign in a flag is no variable', async () => {
        const [answer] = await judge([{ stage: 'load', changes: {}, flags: ['--max-pods=$HOME'] }])
        assert.match(describe(answer?.judgement), /^cannot-start .*does not accept the flags.*invalid argument "\$HOME" for "--max-pods"/)
      })
      await step('without systemd-run: one that a person named is run directly, and not beyond its kubeconfig', async () => {
        const options = { directory: '/root/judge', direct: true, systemdRun: '/no/systemd-run' }
        const questions = [
          { stage: 'load', changes: { maxPods: 53 } },
          { stage: 'load', changes: { kubeAPIQPS: -1 } },
          { stage: 'deep', changes: { maxPods: 53 } },
        ] as const
        const said = (await judge(questions, options, 'person')).map(({ judgement }) => describe(judgement))
        assert.match(said[0] ?? '', /^accepted/)
        assert.match(said[1] ?? '', /^refused validate invalid configuration: kubeAPIQPS/)
        assert.match(said[2] ?? '', /^unjudged .*this stage is not safe without the sandbox$/)
        assert.equal((await node.exec('find', '/root/judge', '-mindepth', '1')).stdout, '')
      })
      await step('what it takes', async () => {
        const asked = judge([{ stage: 'deep', changes: { maxPods: 51 } }], LINGERING)
        const most = await watchMemory(node, asked)
        console.log(`    at most ${most} MiB`)
        assert(most > 10 && most < SANDBOX_LIMITS.memoryMiB / 2)
      })
      await step('systemd ends one that takes too long', async () => {
        const limits = { ...SANDBOX_LIMITS, seconds: { ...SANDBOX_LIMITS.seconds, deep: 1 } }
        const [answer] = await judge([{ stage: 'deep', changes: { maxPods: 52 } }], { ...LINGERING, limits })
        assert.equal(describe(answer?.judgement), 'unjudged kubelet was interrupted: it exceeded its time limit')
      })
      await step('the judge ends one that systemd does not', async () => {
        const limits = { ...SANDBOX_LIMITS, seconds: { ...SANDBOX_LIMITS.seconds, deep: 60 } }
        const [answer] = await judge([{ stage: 'deep', changes: { maxPods: 52 } }], { ...LINGERING, limits, graceMs: -59_000 })
        assert.equal(describe(answer?.judgement), 'unjudged kubelet was interrupted: timed out after 1 s')
      })
      await step('nothing of it is left, and kubelet runs on', () => untilSame(node, before))
    }),
  )
}

/** Of today, whose deep stage reaches further. */
export function addModernJudgeScenario(program: string): void {
  scenario('node: modern: judge: kubelet serves in its sandbox, beside a container runtime that is not ready', (step) =>
    withModernPlane(step, (plane) =>
      withNode(plane, program, { name: 'modern-judge-node', agent: 'absent' }, async (node) => {
        const judge = await step('a judge in the sandbox of the agent', () => installJudge(plane, node))
        await step('a sandbox can write to its own directory alone', () => listWritable(node, ['to-kubeconfig', 'beside-runtime']))
        const before = await step('what there is on the node', () => lookAround(node))
        await step('starting', () => judgeAll(judge, 'deep', SERVING))
        await step('what it takes', async () => {
          const most = await watchMemory(node, judge([{ stage: 'deep', changes: { maxPods: 51 } }]))
          console.log(`    at most ${most} MiB`)
          assert(most > 10 && most < SANDBOX_LIMITS.memoryMiB / 2)
        })
        await step('nothing of it is left, and kubelet runs on', () => untilSame(node, before))
      }),
    ),
  )
}

interface Question {
  readonly stage: JudgeStage
  readonly changes: object
  readonly flags?: readonly string[]
}
/** From the sandbox of the agent, or as a person on the node does. */
type Ask = (questions: readonly Question[], options?: Partial<Questions['options']>, who?: 'agent' | 'person') => Promise<readonly Answer[]>

/** The unit of the agent as it is shipped, with the judge in the agent's place. */
async function installJudge(plane: ControlPlane, node: Node): Promise<Ask> {
  const built = join(plane.directory, 'judge')
  await run(process.execPath, ['scripts/build.mjs', 'test/real/node/judge-program.ts', built], { cwd: ROOT })
  mkdirSync(node.host(HOME), { recursive: true })
  cpSync(built, node.host(HOME, 'judge'), { recursive: true })
  const shipped = readFileSync(join(ROOT, 'systemd/kubelet-cfg-agent.service'), 'utf8')
  const changes: Readonly<Record<string, string | undefined>> = {
    Type: 'oneshot',
    NotifyAccess: undefined,
    WatchdogSec: undefined,
    Restart: undefined,
    ExecStart: `/usr/local/bin/node ${PROGRAM} ${HOME}/questions.json`,
    StandardOutput: `truncate:${HOME}/answers.json`,
    SyslogLevelPrefix: undefined,
  }
  const lines = shipped.split('\n').flatMap((line) => {
    const [name = ''] = line.split('=', 1)
    if (!line.includes('=') || !Object.hasOwn(changes, name)) return [line]
    return changes[name] === undefined ? [] : [`${name}=${changes[name]}`]
  })
  writeFileSync(node.host('/etc/systemd/system', UNIT), lines.join('\n'))
  await node.systemctl('daemon-reload')
  await node.exec('install', '-D', '-m', '600', '/etc/kubernetes/pki/ca.crt', '/root/secret/ca.crt')
  await node.exec('chmod', '700', '/root/secret')
  await node.exec('install', '-m', '600', '-o', 'daemon', '/etc/kubernetes/pki/ca.crt', '/root/foreign.crt')
  const real = await kubeletFlags(node)
  const authority = readFileSync(node.host('/etc/kubernetes/pki/ca.crt'), 'utf8')
  return async (questions, options = {}, who = 'agent') => {
    const requests = questions.map(
      ({ stage, changes, flags = [] }): Omit<JudgeRequest, 'signal'> => ({
        binary: '/usr/bin/kubelet',
        flags: [...real, ...flags],
        files: { kubelet: node.config(changes), 'ca.crt': authority },
        key: 'kubelet',
        stage,
      }),
    )
    const asked: Questions = { options: { directory: DIRECTORY, direct: false, ...options }, requests }
    writeFileSync(node.host(HOME, 'questions.json'), JSON.stringify(asked))
    if (who === 'person') return JSON.parse((await node.exec('/usr/local/bin/node', PROGRAM, `${HOME}/questions.json`)).stdout)
    await node.systemctl('start', UNIT)
    return JSON.parse(readFileSync(node.host(HOME, 'answers.json'), 'utf8'))
  }
}

async function judgeAll(judge: Ask, stage: JudgeStage, expected: readonly Expected[]): Promise<void> {
  const answers = await judge(expected.map(([, changes]) => ({ stage, changes })))
  assert.equal(answers.length, expected.length)
  for (const [at, [what, , kind, says]] of expected.entries()) {
    const answer = answers[at]
    console.log(`    ${String(answer?.ms).padStart(5)} ms  ${what}: ${describe(answer?.judgement)}`)
    assert.equal(answer?.judgement.kind, kind, what)
    assert.match(describe(answer?.judgement).slice(kind.length + 1), says, what)
  }
}

function describe(judgement: KubeletJudgement | undefined): string {
  if (judgement === undefined) return 'nothing'
  return judgement.kind === 'refused' ? `refused ${judgement.reason} ${judgement.message}` : `${judgement.kind} ${judgement.detail}`
}

/** The most that a probe had in memory while it was looked at, its program included. */
async function watchMemory(node: Node, work: Promise<unknown>): Promise<number> {
  let over = false
  const ended = work.finally(() => {
    over = true
  })
  let mostKiB = 0
  const look = async () => {
    const { stdout } = await node.exec('pgrep', '--full', `^/usr/bin/kubelet .*--config=${DIRECTORY}/judge-`)
    const status = await node.exec('cat', `/proc/${stdout.trim()}/status`)
    mostKiB = Math.max(mostKiB, Number(/^VmHWM:\s+(\d+) kB$/m.exec(status.stdout)?.[1] ?? 0))
  }
  // Before it has begun, and after it has ended, there is nothing to look at.
  while (!over) await look().catch(() => {})
  await ended
  return Math.round(mostKiB / 1024)
}

async function kubeletFlags(node: Node): Promise<string[]> {
  const { MainPID } = await node.show('kubelet', 'MainPID')
  const { stdout } = await node.exec('cat', `/proc/${MainPID}/cmdline`)
  return stdout.replace(/\0$/, '').split('\0').slice(1)
}

/** At each mount, and where a kubelet has files. */
const WRITE = `for place in $(cut -d ' ' -f 5 /proc/self/mountinfo | sort -u) /etc /home /root /run/containerd /tmp /var/lib/kubelet /var/log; do
touch $place/written-by-lab 2>/dev/null && echo $place; done; true`

async function listWritable(node: Node, goals: readonly HowFar[]): Promise<void> {
  const own = '/run/judge-lab'
  await node.exec('mkdir', '-p', own)
  for (const [at, goal] of goals.entries()) {
    const args = sandboxArguments(`judge-lab-${at}.service`, goal, own, ['/bin/sh', '-c', WRITE])
    assert.equal((await node.exec('systemd-run', ...args)).stdout, `${own}\n`, goal)
  }
}

async function untilSame(node: Node, before: unknown): Promise<void> {
  const same = async () => {
    assert.deepEqual(await lookAround(node), before)
    return true
  }
  // systemd forgets a unit a moment after it has ended.
  await eventually(same, { what: 'the node is as before' })
}

/**
 * The things that a kubelet, and a sandbox, could leave: units, slices, mounts, files; and which
 * kubelet runs.
 */
async function lookAround(node: Node): Promise<unknown> {
  const said = async (file: string, ...args: string[]) => (await node.exec(file, ...args)).stdout
  await node.exec('mkdir', '-p', DIRECTORY)
  const units = await said('systemctl', 'list-units', '--all', '--no-legend', '--plain', '--type=service,scope,slice')
  const mounts = await said('cat', '/proc/1/mountinfo')
  return {
    units: units.split('\n').flatMap((line) => (/judge-\d|kubepods|run-r?u?\w+\.scope/.test(line) ? [line] : [])),
    mounts: mounts.split('\n').filter((line) => line.includes('kubelet-cfg-agent')),
    files: await said('find', DIRECTORY, '/etc/kubernetes', '/var/lib/kubelet/pki', '-mindepth', '1'),
    groups: await said('find', '/sys/fs/cgroup', '-name', '*kubepods*'),
    kubelet: await node.kubeletProcess(),
  }
}
