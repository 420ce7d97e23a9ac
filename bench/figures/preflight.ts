// SPDX-License-Identifier: Apache-2.0
/**
 * The time for preflight of a valid config of 20 KB: the parts without kubelet, warm; and
 * everything except the deep stage with a real kubelet that the lab has built, started directly if
 * systemd cannot provide its sandbox. There is no floor.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { BoundedYaml } from '../../src/kubelet/bounded-yaml.ts'
import { readMachineFacts } from '../../src/kubelet/node-facts.ts'
import { readDocument } from '../../src/preflight/document.ts'
import { inspectWith } from '../../src/preflight/inspect.ts'
import type { InspectedConfig, InspectOptions, Recipient } from '../../src/preflight/inspection.ts'
import { KubeletBinaries } from '../../src/preflight/kubelet/binaries.ts'
import { KubeletJudge } from '../../src/preflight/kubelet/judge.ts'
import { readSurroundings } from '../../src/preflight/node/read-surroundings.ts'
import { listParts } from '../../src/preflight/parts.ts'
import { findBuilt } from '../built.ts'
import { median, percentile } from '../statistics.ts'
import { payload } from '../world/objects.ts'
import type { Figure, Measured } from './figure.ts'

const PARTS_LIMIT_MS = 20
const WHOLE_LIMIT_MS = 500
const WARM_UP = 20
/** As in the agent. */
const LOOK_AROUND_MS = 1000
const VERSION = { major: 1, minor: 20, patch: 2 }
const HEALTHZ_PORT = 10_248
const YAML = new BoundedYaml({ child: fileURLToPath(new URL('../../src/kubelet/yaml-child.ts', import.meta.url)) })
const OPTIONS: InspectOptions = { kubelet: undefined, version: VERSION, unknownKeys: undefined, deep: 'no', node: true }

export async function measurePreflight(runs: number): Promise<Measured> {
  const texts = { JSON: payload(1, HEALTHZ_PORT), YAML: stringify(JSON.parse(payload(1, HEALTHZ_PORT))) }
  const running = await readDocument(payload(2, HEALTHZ_PORT), YAML)
  if (!running.ok) throw new Error(running.detail)
  const node = { flags: [], folder: '/', running: running.document.config, kubeletPid: undefined }
  const recipient: Recipient = { kubelet: undefined, version: VERSION, node, unknownKeys: 'warn' }
  const directory = mkdtempSync(join(tmpdir(), 'preflight-bench-'))
  try {
    const binaries = new KubeletBinaries()
    const judge = new KubeletJudge({
      version: (binary) => binaries.version(binary),
      systemdRun: '/usr/bin/systemd-run',
      systemctl: '/usr/bin/systemctl',
      directory,
      direct: true,
      standIn: [],
      memory: { read: () => undefined, write: () => {} },
    })
    const parts = listParts({
      surroundings: (needs) => readSurroundings(needs, LOOK_AROUND_MS, { facts: readMachineFacts }),
      policy: () => ({ base: 'guarded', allow: ['allowedUnsafeSysctls'], deny: [], requireDrain: ['class:drain'] }),
      guardsOff: () => [],
      judge,
      signal: new AbortController().signal,
    })
    const inspect = async (text: string, kubelet: string | undefined): Promise<void> => {
      const config: InspectedConfig = { name: 'bench', files: { kubelet: text }, key: 'kubelet' }
      judge.forget()
      const judgedBy = { ...recipient, kubelet: kubelet === undefined ? undefined : { binary: kubelet, flags: [] } }
      const report = await inspectWith(parts, async () => judgedBy, YAML)(config, OPTIONS)
      const judged = report.parts.find(({ part }) => part === 'kubelet')
      if (report.outcome !== 'accepted' || (kubelet !== undefined && judged?.outcome !== 'accepted'))
        throw new Error(`preflight rejects a valid config: ${JSON.stringify(report).slice(0, 1000)}`)
    }
    const times: Record<string, readonly number[]> = {}
    const figures: Figure[] = []
    for (const [format, text] of Object.entries(texts)) {
      for (let i = 0; i < WARM_UP; i++) await inspect(text, undefined)
      const taken = await timeEach(runs, () => inspect(text, undefined))
      times[format] = taken
      figures.push(figure(`preflight without kubelet, 20 KB ${format}, p50`, taken, PARTS_LIMIT_MS))
    }
    const kubelet = findBuilt('kubelet')
    if (kubelet === undefined) process.stderr.write('kubelet is missing (npm run test:real builds it): skipping preflight with kubelet\n')
    else {
      let serial = 0
      // Kubelet is not asked twice about the same content.
      const inspectAnother = () => inspect(`${texts.YAML}# ${serial++}\n`, kubelet)
      await inspectAnother()
      const taken = await timeEach(Math.min(runs, 20), inspectAnother)
      times.whole = taken
      figures.push(figure('preflight with kubelet loading it, 20 KB YAML, p50', taken, WHOLE_LIMIT_MS))
    }
    const p90 = Object.fromEntries(Object.entries(times).map(([name, taken]) => [name, percentile(taken, 90)]))
    return { figures, details: { runs, kubelet: kubelet !== undefined, p90, ...times } }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function timeEach(runs: number, work: () => Promise<void>): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < runs; i++) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return times
}

function figure(name: string, times: readonly number[], limitMs: number): Figure {
  const ms = median(times)
  return { name, unit: 'ms', agent: ms, floor: undefined, result: `${ms.toFixed(1)} ms`, target: `< ${limitMs} ms`, met: ms < limitMs }
}
