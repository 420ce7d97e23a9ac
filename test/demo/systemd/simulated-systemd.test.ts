// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type SimulatedSystemd, type SimulatedSystemdOptions, startSimulatedSystemd } from '../../../demo/systemd/simulated-systemd.ts'
import { kubeadmUnit, spelledOutUnit } from '../../../demo/systemd/unit-file.ts'
import { NetworkHealthProbe } from '../../../src/kubelet/health.ts'
import { Systemctl } from '../../../src/systemd/systemctl.ts'
import { uncachedBinary } from '../../systemd/uncached-binary.ts'
import { type KnownUnit, unitContract } from '../../systemd/unit-contract.ts'
import { until as eventually } from '../../until.ts'

const NEVER_MS = 24 * 3600_000
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const WELL = `${HEAD}healthzPort: 0\n`
const CRASH = `${WELL}cgroupRoot: /nope\n`

function paths(t: Test) {
  const dir = t.testdir()
  const dynamicConfigDir = join(dir, 'state')
  const checkpoint = join(dynamicConfigDir, 'checkpoints/u/7/kubelet')
  mkdirSync(join(checkpoint, '..'), { recursive: true })
  return { dir, dynamicConfigDir, checkpoint, localConfig: join(dir, 'config.yaml'), envFile: join(dynamicConfigDir, 'kubelet.env') }
}

async function open(t: Test, options: Partial<SimulatedSystemdOptions> = {}, shape: 'env' | 'file' = 'env') {
  const where = paths(t)
  writeFileSync(where.localConfig, WELL)
  writeFileSync(where.checkpoint, WELL)
  const lines: string[] = []
  const unitFile = shape === 'env' ? kubeadmUnit(where) : spelledOutUnit(where)
  const systemd = await startSimulatedSystemd({
    dir: where.dir,
    unit: unitFile,
    restartSecMs: 'when-told',
    timeoutStopMs: NEVER_MS,
    onLine: (line, from) => from === 'kubelet' && lines.push(line),
    ...options,
  })
  t.teardown(() => systemd.close())
  const unit = new Systemctl({
    ...where,
    systemctl: systemd.systemctl,
    unit: systemd.unit,
    activation: 'auto',
    binary: uncachedBinary(),
    timeoutMs: NEVER_MS,
  })
  /**
   * Waits as long as it takes; RestartSec ends once a test has seen that kubelet waits for it, so
   * no test can miss that.
   */
  const until = async (what: string, isSo: (state: KnownUnit) => boolean): Promise<KnownUnit> => {
    let found: KnownUnit | undefined
    const look = async () => {
      const state = await unit.observe()
      if (state.kind !== 'known') return false
      if (isSo(state)) found = state
      else if (state.activity === 'auto-restart') systemd.endRestartSec()
      return found !== undefined
    }
    await eventually(look, `${what}; kubelet said ${lines.join(', ')}`, 20)
    if (found === undefined) throw new Error(what)
    return found
  }
  const activate = (source: 'checkpoint' | 'local') => {
    if (source === 'local') rmSync(where.envFile, { force: true })
    else writeFileSync(where.envFile, `KUBELET_CONFIG_ARGS="--config=${where.checkpoint}"\n`)
  }
  return { ...where, systemd, unit, lines, until, activate }
}

const running = ({ process }: KnownUnit) => process.kind === 'other' || process.kind === 'checkpoint'

unitContract(t, async (t, { startLimit }) => {
  const opened = await open(t, startLimit ? { startLimit: { burst: 3, intervalMs: NEVER_MS } } : {})
  const { systemd, localConfig, checkpoint } = opened
  return {
    ...opened,
    operator: operatorOf(systemd),
    behave: (how) => {
      for (const path of [localConfig, checkpoint]) writeFileSync(path, how === 'well' ? WELL : CRASH)
    },
  }
})

function operatorOf(systemd: SimulatedSystemd) {
  return {
    start: () => systemd.command('start'),
    stop: () => systemd.command('stop'),
    restart: () => systemd.command('restart'),
    kill: () => systemd.kill(),
    shutDown: () => systemd.shutDown(),
  }
}

t.test('the simulated kubelet takes and refuses configs as the real one does', async (t) => {
  const { systemd, until, lines, localConfig, unit } = await open(t)
  const port = await freePort()
  const probe = new NetworkHealthProbe()
  for (const [text, complaint] of [
    ['{0xdeadbeef}', 'failed to load Kubelet config file'],
    [`${HEAD}kubeAPIQPS: -1\n`, 'invalid configuration: kubeAPIQPS (--kube-api-qps) -1 must not be a negative number'],
    [CRASH, 'cgroup-root ["nope"] doesn\'t exist'],
    [`${HEAD}healthzPort: 0\ncontainerRuntimeEndpoint: unix:///no/such.sock\n`, 'failed to create kubelet'],
  ] as const) {
    writeFileSync(localConfig, text)
    lines.length = 0
    await until('it runs or waits', ({ activity }) => activity === 'running' || activity === 'auto-restart')
    systemd.command('restart')
    const state = await until('it has failed', ({ activity }) => activity === 'auto-restart' && lines.some((line) => line.startsWith('F ')))
    t.match(lines.join('\n'), complaint)
    t.equal(state.summary, 'activating (auto-restart, exit-code)')
  }
  writeFileSync(localConfig, `${HEAD}healthzPort: ${port}\n`)
  await unit.restart('other')
  await eventually(async () => (await probe.healthz({ host: '127.0.0.1', port })).ok, 'kubelet is healthy', 20)
  const configz = (await (await fetch(`http://127.0.0.1:${port}/configz`)).json()) as { kubeletconfig: unknown }
  t.match(configz.kubeletconfig, { healthzPort: port })
  systemd.kill('SIGSTOP')
  t.strictSame(await new NetworkHealthProbe(200).healthz({ host: '127.0.0.1', port }), { ok: false, detail: 'no answer within 0.2 s' })
  systemd.kill('SIGCONT')
})

t.test('a kubelet that hangs when an operator stops it counts as stopped', async (t) => {
  const { systemd, until } = await open(t, { timeoutStopMs: 50 })
  await until('it runs', running)
  systemd.kill('SIGSTOP')
  systemd.command('stop')
  t.match(await until('it is killed', ({ process }) => process.kind === 'none'), { activity: 'stopped', summary: 'failed (timeout)' })
})

t.test('a unit with --config in ExecStart', async (t) => {
  const { until, localConfig } = await open(t, {}, 'file')
  t.match(await until('it runs', running), {
    wiring: { kind: 'ready', activation: 'file', path: localConfig },
    process: { kind: 'other', configPath: localConfig },
  })
})

t.test('flags are those of the process, or of the unit if there is no process', async (t) => {
  const flags = '--container-runtime-endpoint=unix:///a.sock --healthz-port=4'
  const { systemd, until, dir } = await open(t)
  await until('it runs', running)
  const flagsFile = join(dir, 'kubeadm-flags.env')
  writeFileSync(flagsFile, `KUBELET_KUBEADM_ARGS="${flags}"\n`)
  systemd.change({ environmentFiles: [flagsFile, join(dir, 'state/kubelet.env')] })
  t.match(await until('it runs', running), { runtimeEndpoint: undefined, healthzFlags: {} })
  systemd.command('stop')
  t.match(await until('it stops', ({ activity }) => activity === 'stopped'), {
    runtimeEndpoint: 'unix:///a.sock',
    healthzFlags: { port: 4 },
  })
})

t.test('a process that is not kubelet is unknown', async (t) => {
  const { systemd, unit, until, dir } = await open(t)
  await until('it runs', running)
  const wrapper = process.execPath
  systemd.change({ path: wrapper, words: [wrapper] })
  const fresh = new Systemctl({
    binary: uncachedBinary(),
    systemctl: systemd.systemctl,
    unit: systemd.unit,
    envFile: '/e',
    activation: 'auto',
    dynamicConfigDir: '/d',
    timeoutMs: NEVER_MS,
  })
  t.match(await fresh.observe(), { process: { kind: 'unknown', detail: `${dir}/kubelet.cjs, not ${wrapper}` } })
  t.match(await unit.observe(), { process: { kind: 'other' } }, 'a process that was identified before stays known')
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
