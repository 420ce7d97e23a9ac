// SPDX-License-Identifier: Apache-2.0
/**
 * Kubelet's unit of the benchmark: systemd's state machine over processes that do nothing, and a
 * `systemctl` that costs almost nothing (see stand-in.c), so that only the agent is measured. This
 * process also serves kubelet's health endpoint.
 */
import { type ChildProcess, type ExecFileSyncOptions, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createServer as createHealthServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandArguments, kubeadmUnit, type SimulatedUnit, showUnit } from '../../demo/systemd/unit-file.ts'
import { UnitMachine } from '../../demo/systemd/unit-machine.ts'
import { monotonicUs } from '../processes.ts'

export interface BenchUnit {
  readonly systemctl: string
  readonly healthzPort: number
  /**
   * Resolves after the next restart of this unit, with the time when its systemctl was started
   * (CLOCK_MONOTONIC).
   */
  restarted(unit: string): Promise<number>
  close(): void
}

interface UnitOptions {
  /** The CPU time of each systemctl command. */
  readonly costUs: number
  /**
   * As kubelet tells it: preflight then asks this kubelet, too. undefined: only the agent's own
   * rules run.
   */
  readonly version: string | undefined
  /** The path of a real kubelet, which preflight asks. */
  readonly kubelet: string | undefined
  readonly flags: readonly string[]
  /** The signal of systemd to those who have subscribed. */
  readonly onChange: () => void
}

export async function startUnit(dir: string, envFile: string, options: UnitOptions): Promise<BenchUnit> {
  const { costUs, version, kubelet: real, flags, onChange } = options
  mkdirSync(dir, { recursive: true })
  const systemctl = join(dir, 'systemctl')
  const kubelet = join(dir, 'kubelet')
  compile(systemctl)
  for (const name of ['kubelet', 'systemd-run']) copyFileSync(systemctl, join(dir, name))
  if (version !== undefined) writeFileSync(join(dir, 'version'), version)
  if (real !== undefined) writeFileSync(join(dir, 'real'), real)
  if (costUs > 0) writeFileSync(join(dir, 'cost-us'), `${costUs}\n`)
  const health = createHealthServer((_, response) => response.end('ok')).listen(0, '127.0.0.1')
  await new Promise((resolve) => health.once('listening', resolve))
  const healthzPort = (health.address() as AddressInfo).port

  const localConfig = join(dir, 'local.json')
  const local = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', healthzPort }
  writeFileSync(localConfig, JSON.stringify(local))
  const kubeadm = kubeadmUnit({ localConfig, envFile })
  const environment = { ...kubeadm.environment, KUBELET_KUBEADM_ARGS: flags.join(' ') }
  const unit: SimulatedUnit = { ...kubeadm, environment, path: kubelet, words: [kubelet, ...kubeadm.words.slice(1)] }

  let child: ChildProcess | undefined
  const machine: UnitMachine = new UnitMachine({
    restartUs: 10e6,
    newInvocationId: () => randomBytes(16).toString('hex'),
    spawn() {
      const started = spawn(kubelet, commandArguments(unit), { stdio: 'ignore' })
      child = started
      started.once('exit', () => {
        if (child === started) machine.exited('signal', monotonicUs())
        onChange()
      })
      show()
    },
    terminate: () => void child?.kill('SIGKILL'),
  })
  const show = (): void => {
    const path = join(dir, 'show.txt')
    writeFileSync(`${path}.new`, showUnit(unit, machine, child?.pid ?? 0))
    renameSync(`${path}.new`, path)
    onChange()
  }

  const waiting = new Map<string, (startedUs: number) => void>()
  const settle = (name: string, startedUs: number): void => {
    waiting.get(name)?.(startedUs)
    waiting.delete(name)
  }
  const commands = createServer((socket: Socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', (line) => {
      const [, name = '', startedNs = ''] = line.toString().trim().split(' ')
      const startedUs = Number(startedNs) / 1000
      if (name !== unit.name) {
        socket.end('.')
        settle(name, startedUs)
        return
      }
      child?.once('exit', () => {
        socket.end('.')
        settle(name, startedUs)
      })
      machine.command('try-restart', monotonicUs())
    })
  }).listen(join(dir, 'systemd.sock'))
  machine.command('start', monotonicUs())

  return {
    systemctl,
    healthzPort,
    restarted: (name) => new Promise((resolve) => waiting.set(name, resolve)),
    close() {
      machine.command('stop', monotonicUs())
      child?.kill('SIGKILL')
      commands.close()
      health.close()
    },
  }
}

function compile(to: string): void {
  const source = fileURLToPath(new URL('./stand-in.c', import.meta.url))
  const options: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'pipe'] }
  try {
    // A static binary starts in half the time.
    execFileSync('cc', ['-O2', '-static', '-o', to, source], options)
  } catch {
    execFileSync('cc', ['-O2', '-o', to, source], options)
  }
}
