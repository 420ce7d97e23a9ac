/**
 * The parts of the demo, in one temporary directory: the embedded API server with one Node, a
 * simulated systemd with a simulated kubelet and its local config, and the real agent. Closing it
 * ends every process and removes the directory.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readNodeConfig } from '../src/report/node-config.ts'
import type { ConfigStatus } from '../src/report/status.ts'
import { AgentProcess, type LogLine } from './agent-process.ts'
import { section } from './api-server/objects.ts'
import { nodeIdentity } from './api-server/request.ts'
import { type ApiServer, startApiServer } from './api-server/server.ts'
import type { StoreEvent } from './api-server/store.ts'
import { podsConfig } from './configs.ts'
import type { Pace } from './pace.ts'
import { type SimulatedSystemd, startSimulatedSystemd } from './systemd/simulated-systemd.ts'
import { kubeadmUnit } from './systemd/unit-file.ts'

export const NODE = 'worker-1'
export const LOCAL_PODS = 110
/** The default is ten minutes. */
export const TRIAL_SECONDS = 4

export interface WorldOptions {
  /** The bundled agent. */
  readonly program: string
  readonly pace: Pace
  /** Called when the directory exists; it is still empty. */
  onStart(directory: string): void
  onAgentLine(line: LogLine): void
  onKubeletLine(line: string): void
  onObject(event: StoreEvent): void
}

export interface World {
  readonly directory: string
  /** The agent's dynamic config directory. */
  readonly stateDir: string
  /** The agent's settings, for its other commands. */
  readonly settingsFile: string
  readonly healthzPort: number
  readonly api: ApiServer
  readonly systemd: SimulatedSystemd
  readonly agent: AgentProcess
  /** The Node's status.config, unparsed. */
  configOnNode(): unknown
  /** The same, parsed. */
  status(): ConfigStatus | 'absent'
  /** The config that kubelet reports. undefined: it does not respond. */
  configz(): Promise<Record<string, unknown> | undefined>
  close(): Promise<void>
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-demo-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  const ends: End[] = []
  const lastResort = () => {
    for (const { kill } of ends) kill?.()
    remove()
  }
  process.once('exit', lastResort)
  options.onStart(directory)
  const close = async () => {
    for (const { close } of ends.reverse()) await close()
    process.off('exit', lastResort)
    remove()
  }
  try {
    return { ...(await populate(options, directory, ends)), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** How a part ends: orderly, or immediately. */
interface End {
  close(): Promise<void>
  kill?(): void
}

async function populate(options: WorldOptions, directory: string, ends: End[]): Promise<Omit<World, 'close'>> {
  const stateDir = join(directory, 'state')
  const localConfig = join(directory, 'config.yaml')
  const envFile = join(stateDir, 'kubelet.env')
  const kubeconfig = join(directory, 'kubelet.conf')
  const settingsFile = join(directory, 'agent.yaml')
  const healthzPort = await findFreePort()
  mkdirSync(stateDir)
  writeFileSync(localConfig, podsConfig(healthzPort, LOCAL_PODS))

  const api = await startApiServer()
  ends.push({ close: () => api.stop() })
  api.objects.put({ kind: 'Node', metadata: { name: NODE }, spec: {} })
  api.store.onEvent((event) => options.onObject(event))
  writeFileSync(kubeconfig, api.kubeconfig(nodeIdentity(NODE)), { mode: 0o600 })

  const systemd = await startSimulatedSystemd({
    dir: join(directory, 'systemd'),
    unit: kubeadmUnit({ localConfig, envFile }),
    restartSecMs: options.pace.restartSecMs,
    onLine: (line, from) => {
      if (from === 'kubelet') options.onKubeletLine(line)
    },
  })
  ends.push({ close: () => systemd.close(), kill: () => systemd.kill() })

  const settings = {
    kubeconfig,
    'dynamic-config-dir': stateDir,
    'runtime-dir': join(directory, 'run'),
    'kubelet-env-file': envFile,
    systemctl: systemd.systemctl,
    'trial-duration': `${TRIAL_SECONDS}s`,
    'start-deadline': options.pace.startDeadline,
    'health-tolerance': options.pace.healthTolerance,
    spread: '1s',
    'restarts-per-hour': '60',
    'metrics-address': '127.0.0.1:0',
  }
  writeFileSync(settingsFile, settingsText(settings))
  const agent = new AgentProcess(options.program, ['run', ...asFlags(settings)], options.onAgentLine)
  ends.push({ close: () => agent.stop(), kill: () => agent.kill() })

  return {
    ...{ directory, stateDir, settingsFile, healthzPort, api, systemd, agent },
    configOnNode: () => section(api.objects.get('Node', NODE) ?? {}, 'status').config,
    status: () => readNodeConfig(api.objects.get('Node', NODE)),
    configz: () => readConfigz(healthzPort, options.pace.answerMs),
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
