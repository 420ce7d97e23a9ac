// SPDX-License-Identifier: Apache-2.0
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { KubeletJudge } from '../../../src/preflight/kubelet/judge.ts'
import type { JudgeRequest, JudgeStage, VersionAnswer } from '../../../src/preflight/kubelet/judgement.ts'

const VERSION = { ok: true, version: { major: 1, minor: 20, patch: 2 }, identity: 'k1' } as const
/** The end of kubelet's output in the sandbox. */
const END = 'echo "Finished with result: exit-code" >&2; echo "Main processes terminated with: code=exited/status=255" >&2; exit 255'
/** Reads the probe's flags into $config, $kubeconfig and so on, and prints like kubelet. */
const PROBE = `
for word; do case $word in
  --config=*) config=\${word#--config=};;
  --kubeconfig=*) kubeconfig=\${word#--kubeconfig=};;
  --cert-dir=*) certificates=\${word#--cert-dir=};;
  --container-runtime-endpoint=unix://*) socket=\${word#--container-runtime-endpoint=unix://};;
  --unit=*) echo "Running as unit: \${word#--unit=}" >&2;;
esac; done
fatal() { echo "F1121 20:44:19.976746      82 server.go:269] $*" >&2; }
`

const FORGETFUL = { read: () => undefined, write: () => {} }

interface WorldOptions {
  readonly version?: VersionAnswer
  readonly direct?: boolean
  /** A shell script. */
  readonly kubelet?: string
  readonly systemctl?: string
  /** Short if a command hangs; otherwise long, so that a busy machine does not fail the test. */
  readonly seconds?: number
}

/** A systemd-run and a systemctl that are shell scripts. */
function world(
  t: Test,
  systemdRun: string,
  { version = VERSION, direct = false, kubelet = 'exit 1', systemctl = '', seconds = 3600 }: WorldOptions = {},
) {
  const dir = t.testdir({ run: {} })
  const script = (name: string, text: string) => {
    writeFileSync(join(dir, name), `#!/bin/sh\ndir=${dir}\necho "$*" >> $dir/${name}.calls\n${text}\n`)
    chmodSync(join(dir, name), 0o755)
    return join(dir, name)
  }
  const binary = script('kubelet', `${PROBE}\n${kubelet}`)
  const judge = new KubeletJudge({
    version: async () => version,
    systemdRun: script('systemd-run', `${PROBE}\n${systemdRun}`),
    systemctl: script('systemctl', systemctl),
    directory: join(dir, 'run'),
    direct,
    memory: FORGETFUL,
    standIn: ['/opt/node', '/opt/stand-in.mjs'],
    limits: { memoryMiB: 100, seconds: { load: seconds, deep: seconds } },
    graceMs: 0,
  })
  const calls = (name: string): string[] => {
    const path = join(dir, `${name}.calls`)
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
  }
  const ask = (changes: Partial<JudgeRequest> = {}) =>
    judge.judge({
      binary,
      flags: ['--hostname-override=n'],
      files: { kubelet: 'kind: KubeletConfiguration', 'ca.crt': 'pem' },
      key: 'kubelet',
      stage: 'load',
      signal: new AbortController().signal,
      ...changes,
    })
  const left = () => readdirSync(join(dir, 'run'))
  return { judge, ask, calls, left, dir }
}

const ACCEPT: Record<JudgeStage, string> = {
  load: `fatal "failed to run Kubelet: invalid kubeconfig: stat $kubeconfig: no such file or directory"; ${END}`,
  deep: `fatal "failed to run Kubelet: failed to create kubelet: dial unix $socket"; ${END}`,
}

t.test('accepted, and remembered', async (t) => {
  for (const stage of ['load', 'deep'] as const) {
    const { ask, calls, left, judge } = world(t, ACCEPT[stage])
    t.match(await ask({ stage }), { kind: 'accepted' })
    t.match(await ask({ stage }), { kind: 'accepted' })
    t.equal(calls('systemd-run').length, 1, 'the second judgement is remembered')
    judge.forget()
    await ask({ stage })
    t.equal(calls('systemd-run').length, stage === 'load' ? 1 : 2, 'only the deep stage depends on the node')
    t.strictSame(left(), [])
    t.strictSame(calls('systemctl'), [], 'a probe that exits by itself is not stopped')
  }
})

t.test('what is remembered does not depend on the config that kubelet runs with now', async (t) => {
  const { ask, calls } = world(t, ACCEPT.load)
  for (const flags of [
    ['--config=/a', '--v=2'],
    ['--config', '/b', '-v=4'],
    ['--max-pods=9', '--config=/b'],
  ])
    t.match(await ask({ flags }), { kind: 'accepted' })
  t.equal(calls('systemd-run').length, 2, 'the last one has another flag')
})

t.test('a kubelet that looks for Docker or a runtime is started beside one that answers, in the deep stage', async (t) => {
  const commandOf = async (stage: JudgeStage, minor: number): Promise<string> => {
    const { ask, calls } = world(t, ACCEPT[stage], { version: { ...VERSION, version: { ...VERSION.version, minor } } })
    t.match(await ask({ stage }), { kind: 'accepted' })
    return / -- (.*)/.exec(calls('systemd-run')[0] ?? '')?.[1] ?? ''
  }
  t.match(await commandOf('deep', 23), /^\/opt\/node \/opt\/stand-in\.mjs docker \S+\/kubelet --/)
  t.match(await commandOf('deep', 24), /^\S+\/kubelet --/)
  t.match(await commandOf('deep', 29), /^\S+\/kubelet --/)
  t.match(await commandOf('deep', 30), /^\/opt\/node \/opt\/stand-in\.mjs runtime \S+\/scratch\/runtime\.sock net:\[\d+\] \S+\/kubelet --/)
  t.match(await commandOf('load', 30), /^\S+\/kubelet --/)
  t.match(await commandOf('load', 23), /^\S+\/kubelet --/)
})

t.test('requests at the same time share a probe', async (t) => {
  const { ask, calls } = world(t, ACCEPT.load)
  const [one, other] = await Promise.all([ask(), ask()])
  t.match(one, { kind: 'accepted' })
  t.strictSame(one, other)
  t.equal(calls('systemd-run').length, 1)
})

t.test('refused, with the message of kubelet', async (t) => {
  const { ask, left } = world(t, `fatal "failed to load Kubelet config file $config, error failed to decode: why"; ${END}`)
  t.strictSame(await ask(), {
    kind: 'refused',
    reason: 'load',
    message: 'failed to load Kubelet config file kubelet, error failed to decode: why',
  })
  t.strictSame(left(), [])
})

t.test('the files are in a directory of their own that only root can read', async (t) => {
  const look = `cd $(dirname $config); ls -l > $dir/listing; cat kubelet ca.crt > $dir/texts; ls -ld . .. ../scratch > $dir/folders; cat $kubeconfig > $dir/kubeconfig; ls -s $certificates > $dir/certificates`
  const { ask, dir } = world(t, `${look}; ${ACCEPT.deep}`)
  t.match(await ask({ stage: 'deep' }), { kind: 'accepted' })
  const read = (name: string) => readFileSync(join(dir, name), 'utf8')
  t.equal(read('texts'), 'kind: KubeletConfigurationpem')
  t.equal(read('listing').match(/^-rw------- .* (?:kubelet|ca\.crt)$/gm)?.length, 2, read('listing'))
  t.equal(read('folders').match(/^drwx------/gm)?.length, 3, read('folders'))
  t.match(JSON.parse(read('kubeconfig')), { kind: 'Config' })
  t.match(read('certificates'), /0 kubelet\.crt\n0 kubelet\.key\n/, 'kubelet finds a certificate, and makes none')
})

/** As with `systemd-run --pipe`, the unit holds the output open when systemd-run is killed. */
const UNIT_LIVES_ON = 'sleep 30 & wait'

t.test('a probe that exceeds its time is stopped by its unit name', async (t) => {
  const { ask, calls, left } = world(t, UNIT_LIVES_ON, { seconds: 1, direct: true })
  t.match(await ask(), { kind: 'unjudged', detail: 'kubelet was interrupted: timed out after 1 s' })
  t.strictSame(calls('kubelet'), [], 'nor is it run without the sandbox')
  const [unit] = /kubelet-cfg-agent-judge-\d+-\w+\.service/.exec(calls('systemd-run')[0] ?? '') ?? []
  t.strictSame(calls('systemctl'), [`stop ${unit}`])
  t.strictSame(left(), [])
  await ask()
  t.equal(calls('systemd-run').length, 2, 'and the next request runs it again')
})

t.test('a probe that is aborted', async (t) => {
  const { ask, calls, left } = world(t, UNIT_LIVES_ON)
  const abort = new AbortController()
  const judgement = ask({ signal: abort.signal })
  setImmediate(() => abort.abort())
  t.match(await judgement, { kind: 'unjudged', detail: 'aborted' })
  t.equal(calls('systemctl').length, 1)
  t.match(await ask({ signal: abort.signal }), { kind: 'unjudged', detail: 'aborted' })
  t.strictSame(left(), [])
})

t.test('what a probe says at the end counts, however much it prints before', async (t) => {
  // 1.37 prints its config: of `{}`, 16 times as much.
  const config = `yes '\tpriority: 0' | head -c 3000000`
  for (const stream of ['1', '2']) {
    const { ask, calls } = world(t, `${config} >&${stream}; echo >&${stream}; ${ACCEPT.load}`)
    t.match(await ask(), { kind: 'accepted' }, stream)
    t.equal(calls('systemctl').length, 0)
  }
  // The line that the middle ends in could be taken for another one.
  const tail = 'Finished with result: exit-code\nMain processes terminated with: code=exited/status=255\n'
  const padding = (1 << 19) - 'Error: x\n\n'.length - tail.length
  const { ask } = world(t, `printf '\t%3000000sError: x\n%${padding}s\n' >&2; ${END}`)
  t.match(await ask(), { kind: 'unjudged' })
})

t.test('a probe that systemd stops', async (t) => {
  for (const [result, detail] of [
    ['oom-kill', 'it exceeded its memory limit'],
    ['timeout', 'it exceeded its time limit'],
    ['signal', 'systemd reported the result signal'],
  ]) {
    const { ask } = world(t, `fatal "invalid configuration: so far"; echo "Finished with result: ${result}" >&2; exit 1`)
    t.match(await ask(), { kind: 'unjudged', detail })
  }
})

t.test('a systemd-run that cannot be used', async (t) => {
  const refusing = 'exec 2>&1; exit 1'
  const without = (options: WorldOptions) => {
    const made = world(t, refusing, options)
    writeFileSync(join(made.dir, 'systemd-run'), '#!/bin/sh\necho "Failed to connect to bus: No such file or directory" >&2\nexit 1\n')
    return made
  }
  const kubelet = ACCEPT.load
  t.match(await without({ kubelet }).ask(), {
    kind: 'unjudged',
    detail: 'systemd-run cannot be used: Failed to connect to bus: No such file or directory',
  })
  const named = without({ direct: true, kubelet })
  t.match(await named.ask(), { kind: 'accepted' }, 'a kubelet that the user named runs directly')
  t.match(named.calls('kubelet')[0], /^--hostname-override=n --config=/)
  t.match(await named.ask({ stage: 'deep' }), { kind: 'unjudged', detail: 'not safe' })
  t.equal(named.calls('kubelet').length, 1, 'but only in the load stage')
  t.strictSame(named.left(), [])
  const refused = without({ direct: true, kubelet: 'fatal "invalid configuration: x"; exit 255' })
  t.match(await refused.ask(), { kind: 'refused', message: 'invalid configuration: x' })
  const hanging = without({ direct: true, kubelet: 'exec sleep 3600', seconds: 1 })
  t.match(await hanging.ask(), { kind: 'unjudged', detail: 'timed out after 1 s' })
  const silent = world(t, '', { direct: true, kubelet, seconds: 1 })
  writeFileSync(join(silent.dir, 'systemd-run'), '#!/bin/sh\nexec sleep 3600\n')
  t.match(await silent.ask(), { kind: 'unjudged', detail: 'systemd-run cannot be used: timed out after 1 s' })
  t.strictSame(silent.calls('kubelet'), [], 'systemd may have started it all the same')
})

t.test('without systemd-run, without kubelet, or without a usable directory', async (t) => {
  const { dir } = world(t, '')
  const nowhere = {
    version: async () => VERSION,
    systemdRun: '/no/systemd-run',
    systemctl: '/no/systemctl',
    directory: dir,
    direct: false,
    memory: FORGETFUL,
    standIn: [],
  }
  const request = { binary: '/k', flags: [], files: { k: '' }, key: 'k', stage: 'load', signal: new AbortController().signal } as const
  t.match(await new KubeletJudge(nowhere).judge(request), {
    kind: 'unjudged',
    detail: 'systemd-run cannot be used: cannot start /no/systemd-run: ENOENT',
  })
  const version = async () => ({ ok: false, detail: 'there is no kubelet at /k' }) as const
  t.strictSame(await new KubeletJudge({ ...nowhere, version }).judge(request), { kind: 'unjudged', detail: 'there is no kubelet at /k' })
  for (const [cannotRun, ownEnvironment, kind] of [
    ['at-all', undefined, 'cannot-start'],
    ['at-all', true, 'cannot-start'],
    ['without-environment', undefined, 'cannot-start'],
    ['without-environment', true, 'unjudged'],
  ] as const) {
    const broken = async () => ({ ok: false, detail: '/k cannot run on this machine', cannotRun }) as const
    const judgement = await new KubeletJudge({ ...nowhere, version: broken }).judge({ ...request, ownEnvironment })
    t.match(judgement, { kind, detail: /^\/k cannot run on this machine/ }, `${cannotRun} ${ownEnvironment}`)
  }
  t.match(await new KubeletJudge({ ...nowhere, directory: '/no:where' }).judge(request), {
    kind: 'unjudged',
    detail: 'characters that are not safe in a property of a systemd unit',
  })
  t.match(await new KubeletJudge({ ...nowhere, directory: join(dir, 'kubelet', 'no') }).judge(request), {
    kind: 'unjudged',
    detail: 'cannot prepare the files of the probe: ',
  })
})

t.test('a missing key, and keys that cannot be file names', async (t) => {
  const { ask, calls } = world(t, ACCEPT.load)
  t.match(await ask({ key: 'other' }), { kind: 'refused', reason: 'load', message: 'the ConfigMap has no key other' })
  t.match(await ask({ key: 'toString' }), { kind: 'refused', reason: 'load' })
  t.match(await ask({ key: '../x', files: { '../x': '' } }), { kind: 'unjudged' })
  t.strictSame(calls('systemd-run'), [])
})

t.test('removes the files of agents that have ended, and no others', async (t) => {
  const { ask, left, dir } = world(t, ACCEPT.load)
  for (const name of [`judge-4194399-abc`, `judge-${process.ppid}-abc`, 'health']) mkdirSync(join(dir, 'run', name))
  await ask()
  t.strictSame(left(), ['health', `judge-${process.ppid}-abc`])
})

t.test('the environment of the agent does not reach the probe', async (t) => {
  const { ask, dir } = world(t, `env > $dir/environment; ${ACCEPT.load}`)
  process.env.NOTIFY_SOCKET = '/run/systemd/notify'
  t.teardown(() => delete process.env.NOTIFY_SOCKET)
  await ask()
  t.notMatch(readFileSync(join(dir, 'environment'), 'utf8'), 'NOTIFY_SOCKET')
})

t.test('a program that has kubelet inside is never run as kubelet', async (t) => {
  const { ask, calls } = world(t, ACCEPT.load, { version: { ...VERSION, inside: true }, direct: true })
  for (const stage of ['load', 'deep'] as const)
    t.match(await ask({ stage }), { kind: 'unjudged', detail: /kubelet is a part of .*did not check the config$/ })
  t.strictSame([...calls('systemd-run'), ...calls('kubelet')], [])
})
