// SPDX-License-Identifier: Apache-2.0
/**
 * The time from the API server's acceptance of a changed ConfigMap to the start of the command that
 * restarts kubelet, with preflight, whose kubelet is a real one: each that the lab has built. It
 * loads the config; its start stage is not safe without systemd's sandbox, and is timed on a real
 * node (`npm run test:real -- 'node: pace'`). What a kubelet takes is no time of the agent.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startAgent, WITHOUT_SERVING } from '../agent.ts'
import { listBuilt } from '../built.ts'
import { type Installed, install } from '../installed.ts'
import { PreflightLog } from '../preflight-log.ts'
import { median, percentile } from '../statistics.ts'
import { openWorld } from '../world/client.ts'
import type { Figure, Measured } from './figure.ts'

const WARM_UP = 5
const LIMITS_MS = { p50: 400, p99: 800, agent: 60 }

/** These start with no config without it. Later ones can take it from the config. */
const NEEDS_ENDPOINT = /^1\.2[456]\./
/** The agent asks nothing there: up to 1.23, this was kubelet's own socket. */
const ENDPOINT = '--container-runtime-endpoint=unix:///var/run/dockershim.sock'

export async function measureChange(changes: number): Promise<Measured> {
  const installed = await install()
  const kubelets = listBuilt('kubelet')
  if (kubelets.length === 0) process.stderr.write('kubelet is missing (npm run test:real builds it): skipping changes with kubelet\n')
  const measured: Measured[] = []
  for (const kubelet of kubelets) measured.push(await measureWith(installed, kubelet, changes))
  return { figures: measured.flatMap(({ figures }) => figures), details: { kubelets: measured.map(({ details }) => details) } }
}

async function measureWith(installed: Installed, kubelet: string, changes: number): Promise<Measured> {
  const version = execFileSync(kubelet, ['--version'], { encoding: 'utf8' })
    .trim()
    .replace(/^Kubernetes v/, '')
  const kubeletFlags = NEEDS_ENDPOINT.test(version) ? [ENDPOINT] : []
  const world = await openWorld({ kubelet, kubeletFlags, format: 'yaml' })
  try {
    const { paths } = world
    const agent = startAgent(installed, paths, { flags: ['--log-level=debug', '--preflight=load', WITHOUT_SERVING] })
    const preflights = new PreflightLog(join(paths.stateDir, '..', 'agent.log'))
    const probes = new ProbeLog(join(dirname(paths.systemctl), 'probes'))
    const times = { whole: [] as number[], preflight: [] as number[], kubelet: [] as number[] }
    await world.active()
    for (let at = 0; at < WARM_UP + changes; at++) {
      probes.takeMs()
      preflights.takeMs()
      const whole = (await world.change('agent')) / 1000
      if (at >= WARM_UP) {
        times.whole.push(whole)
        times.preflight.push(preflights.takeMs())
        times.kubelet.push(probes.takeMs())
      }
      await world.active()
    }
    await agent.stop()
    const own = times.whole.map((whole, at) => whole - (times.kubelet[at] ?? 0))
    const outside = times.whole.map((whole, at) => whole - (times.preflight[at] ?? 0))
    const name = `change to restart, kubelet ${version}`
    return {
      figures: [
        figure(`${name}, p50`, median(times.whole), LIMITS_MS.p50),
        figure(`${name}, p99`, percentile(times.whole, 99), LIMITS_MS.p99),
        figure(`${name}, without kubelet, p50`, median(own), LIMITS_MS.agent),
        figure(`${name}, without preflight, p50`, median(outside), undefined),
      ],
      details: { version, changes, ...times },
    }
  } finally {
    await world.close()
  }
}

/** The times that probes of kubelet took, as the stand-in for systemd-run has written them down. */
class ProbeLog {
  readonly #path: string
  #seen = 0

  constructor(path: string) {
    this.#path = path
  }

  /** The total since the last call. */
  takeMs(): number {
    const lines = existsSync(this.#path) ? readFileSync(this.#path, 'utf8').trimEnd().split('\n') : []
    const fresh = lines.slice(this.#seen)
    this.#seen = lines.length
    return fresh.reduce((sum, line) => sum + Number(line) / 1000, 0)
  }
}

function figure(name: string, ms: number, limitMs: number | undefined): Figure {
  const target = limitMs === undefined ? '' : `< ${limitMs} ms`
  return {
    name,
    unit: 'ms',
    agent: ms,
    floor: undefined,
    result: `${ms.toFixed(1)} ms`,
    target,
    met: limitMs === undefined ? undefined : ms < limitMs,
  }
}
