// SPDX-License-Identifier: Apache-2.0
/**
 * One node of the demo: a simulated systemd with a simulated kubelet and its local config, and the
 * real agent, in a directory of their own.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { AgentProcess, type LogLine } from './agent-process.ts'
import { nodeIdentity } from './api-server/request.ts'
import type { ApiServer } from './api-server/server.ts'
import { podsConfig, portOverlay } from './configs.ts'
import type { Pace } from './pace.ts'
import { type SimulatedSystemd, startSimulatedSystemd } from './systemd/simulated-systemd.ts'
import { kubeadmUnit } from './systemd/unit-file.ts'

export const LOCAL_PODS = 110

export interface NodeOptions {
  readonly name: string
  /** The directory of the node, which exists. */
  readonly directory: string
  readonly api: ApiServer
  /** The bundled agent. */
  readonly program: string
  readonly pace: Pace
  readonly trialSeconds: number
  /** The node shares its config with others, so an overlay gives its kubelet a port of its own. */
  readonly isOfMany?: boolean
  /** Of its Node. Default: nothing is assigned. */
  readonly spec?: object
  onAgentLine(line: LogLine): void
  onKubeletLine(line: string): void
}

export interface DemoNode {
  readonly name: string
  /** The agent's dynamic config directory. */
  readonly stateDir: string
  /** The agent's settings, for its other commands. */
  readonly settingsFile: string
  readonly healthzPort: number
  readonly systemd: SimulatedSystemd
  readonly agent: AgentProcess
  /** The config that kubelet reports. undefined: it does not respond. */
  configz(): Promise<Record<string, unknown> | undefined>
}

/** How a part ends: orderly, or immediately. */
export interface End {
  close(): Promise<void>
  kill?(): void
}

/** @param ends gets what is started */
export async function startNode(options: NodeOptions, ends: End[]): Promise<DemoNode> {
  const { name, directory, api, pace } = options
  const at = (path: string) => join(directory, path)
  const [stateDir, settingsFile] = [at('state'), at('agent.yaml')]
  const healthzPort = await findFreePort()
  mkdirSync(stateDir)
  mkdirSync(at('overlay.d'), { mode: 0o755 })
  if (options.isOfMany === true) writeFileSync(at('overlay.d/10-port.yaml'), portOverlay(healthzPort), { mode: 0o644 })
  writeFileSync(at('config.yaml'), podsConfig(healthzPort, LOCAL_PODS))
  api.objects.put({ kind: 'Node', metadata: { name }, spec: options.spec ?? {} })
  writeFileSync(at('kubelet.conf'), api.kubeconfig(nodeIdentity(name)), { mode: 0o600 })

  const systemd = await startSimulatedSystemd({
    dir: at('systemd'),
    unit: kubeadmUnit({ localConfig: at('config.yaml'), envFile: at('state/kubelet.env') }),
    restartSecMs: pace.restartSecMs,
    onLine: (line, from) => {
      if (from === 'kubelet') options.onKubeletLine(line)
    },
  })
  ends.push({ close: () => systemd.close(), kill: () => systemd.kill() })

  const settings = listSettings(options, systemd.systemctl)
  writeFileSync(settingsFile, settingsText(settings))
  const agent = new AgentProcess(options.program, ['run', ...asFlags(settings)], options.onAgentLine)
  ends.push({ close: () => agent.stop(), kill: () => agent.kill() })
  return { name, stateDir, settingsFile, healthzPort, systemd, agent, configz: () => readConfigz(healthzPort, pace.answerMs) }
}

function listSettings({ name, directory, pace, trialSeconds }: NodeOptions, systemctl: string): Readonly<Record<string, string>> {
  const stateDir = join(directory, 'state')
  return {
    'node-name': name,
    kubeconfig: join(directory, 'kubelet.conf'),
    'dynamic-config-dir': stateDir,
    'overlay-dir': join(directory, 'overlay.d'),
    'runtime-dir': join(directory, 'run'),
    'kubelet-env-file': join(stateDir, 'kubelet.env'),
    systemctl,
    // A bus of this machine knows nothing of the simulated systemd.
    'system-bus': join(directory, 'no-bus'),
    'trial-duration': `${trialSeconds}s`,
    'start-deadline': pace.startDeadline,
    'health-tolerance': pace.healthTolerance,
    spread: '1s',
    'restarts-per-hour': '60',
    // The simulated kubelet has neither a container runtime, nor pods, a Lease or a serving port.
    evidence: 'runtime=off,lease=off,ready=off,serving=off,static-pods=off,pods=off',
    'metrics-address': '127.0.0.1:0',
    'metrics-textfile': join(directory, 'metrics.prom'),
  }
}

function asFlags(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
}

/** The same settings as a file. */
function settingsText(settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([name, value]) => {
    const key = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    return `${key}: ${/^\d+$/.test(value) ? value : JSON.stringify(value)}\n`
  })
  return `apiVersion: kubelet-cfg-agent.io/v1alpha1\nkind: AgentConfiguration\n${lines.join('')}`
}

async function readConfigz(port: number, answerMs: number): Promise<Record<string, unknown> | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/configz`, { signal: AbortSignal.timeout(answerMs) })
    const { kubeletconfig } = (await answer.json()) as { kubeletconfig: Record<string, unknown> }
    return kubeletconfig
  } catch {
    return undefined
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('no free port')
  return address.port
}
