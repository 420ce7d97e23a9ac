// SPDX-License-Identifier: Apache-2.0
/**
 * A real Prometheus that scrapes the agents of the demo once a second. Debian has it in the package
 * `prometheus`.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../test/real/lab/ports.ts'
import { until } from '../../test/until.ts'
import type { Series } from './metrics-file.ts'

interface Target {
  readonly instance: string
  readonly address: string
}

export interface Prometheus {
  /** What it scrapes from now on. */
  scrape(targets: readonly Target[]): void
  /** The answers to an expression, one a second. */
  query(expression: string, fromMs: number, count: number): Promise<readonly Series[]>
  close(): Promise<void>
}

interface Answer {
  readonly status: string
  readonly error?: string
  readonly data?: {
    readonly result: readonly { readonly metric: Readonly<Record<string, string>>; readonly values: readonly [number, string][] }[]
  }
}

const CONFIG = `
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - { job_name: kubelet-cfg-agent, file_sd_configs: [{ files: [targets/*.json] }] }
`

export async function startPrometheus(): Promise<Prometheus> {
  const directory = mkdtempSync(join(tmpdir(), 'prometheus-'))
  const at = (path: string) => join(directory, path)
  writeFileSync(at('prometheus.yml'), CONFIG)
  mkdirSync(at('targets'))
  const address = `127.0.0.1:${await findFreePort()}`
  const args = [`--config.file=${at('prometheus.yml')}`, `--storage.tsdb.path=${at('data')}`, `--web.listen-address=${address}`]
  const child = spawn('prometheus', args, { stdio: 'ignore' })
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('exit', (code) => resolve(`exit code ${code}`))
  })
  const close = async () => {
    child.kill()
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  const isReady = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await Promise.race([
    until(isReady, 'Prometheus is ready', 50),
    ended.then((why) => Promise.reject(new Error(`prometheus does not start: ${why}`))),
  ])
  return {
    scrape(targets) {
      const groups = targets.map((target) => ({ targets: [target.address], labels: { instance: target.instance } }))
      writeFileSync(at('targets.new'), JSON.stringify(groups))
      renameSync(at('targets.new'), at('targets/agents.json'))
    },
    query: (expression, fromMs, count) => queryRange(address, expression, fromMs, count),
    close,
  }
}

async function queryRange(address: string, query: string, fromMs: number, count: number): Promise<readonly Series[]> {
  const startS = fromMs / 1000
  const parameters = new URLSearchParams({ query, start: `${startS}`, end: `${startS + count - 1}`, step: '1' })
  const answer = (await (await fetch(`http://${address}/api/v1/query_range?${parameters}`)).json()) as Answer
  if (answer.data === undefined) throw new Error(`Prometheus does not answer ${query}: ${answer.error}`)
  return answer.data.result.map(({ metric, values }) => {
    const bySecond = new Map(values.map(([atS, value]) => [Math.round(atS - startS), Number(value)]))
    return { labels: metric, values: Array.from({ length: count }, (_, second) => shorten(bySecond.get(second))) }
  })
}

/** JSON has no NaN: an average of nothing is nothing. */
function shorten(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : Number(value.toPrecision(6))
}
