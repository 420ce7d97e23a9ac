// SPDX-License-Identifier: Apache-2.0
/**
 * The config that a real kubelet makes of its config file and drop-ins: it logs the config that it
 * runs with, and ends where its kubeconfig is missing.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { isObject } from '../../src/values/is-object.ts'
import { putCertificate } from './kubelet-certificate.ts'
import type { AskedKubelet } from './kubelet-verdict.ts'

const HEAD = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
const LIMIT_MS = 60_000
const MOST_OUTPUT = 16 << 20
/** The first minor with `--fail-cgroupv1`. */
const TELLS_CGROUPS_SINCE = 31
/** From this minor on kubelet logs what /configz serves, which leaves out what is empty. */
export const SERVED_SINCE = 37

export interface Merged {
  readonly file: object
  /** In the order of their names. */
  readonly dropIns: readonly object[]
}

/** Up to 1.36 by the names of Go's internal type: those of fields, in capitals. */
export async function askMerged({ binary, minor }: AskedKubelet, { file, dropIns }: Merged): Promise<Readonly<Record<string, unknown>>> {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-merge-'))
  try {
    const inside = (name: string) => join(directory, name)
    mkdirSync(inside('drop-ins'))
    await putCertificate(inside('certificates'))
    writeFileSync(inside('config'), JSON.stringify({ ...HEAD, ...file }))
    for (const [index, dropIn] of dropIns.entries())
      writeFileSync(inside(`drop-ins/${10 + index}.conf`), JSON.stringify({ ...HEAD, ...dropIn }))
    const flags = [
      ...[`--config=${inside('config')}`, `--config-dir=${inside('drop-ins')}`, `--kubeconfig=${inside('kubeconfig')}`],
      ...[`--root-dir=${inside('root')}`, `--cert-dir=${inside('certificates')}`, '-v=5'],
      ...(minor >= TELLS_CGROUPS_SINCE ? ['--fail-cgroupv1=false'] : []),
    ]
    return readLogged(await run(binary, flags))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function run(binary: string, flags: readonly string[]): Promise<string> {
  const options = {
    timeout: LIMIT_MS,
    maxBuffer: MOST_OUTPUT,
    killSignal: 'SIGKILL',
    // The kubelet ends so soon that to collect garbage only takes CPU.
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', GOGC: 'off' },
  } as const
  return new Promise((resolve, reject) => {
    execFile('unshare', ['--net', binary, ...flags], options, (error, output, errors) => {
      if (error?.killed === true) reject(new Error(`kubelet did not end within ${LIMIT_MS} ms`))
      else resolve(`${output}\n${errors}`)
    })
  })
}

/** JSON, or YAML. klog writes a text of several lines between `<` and `>`, each behind a tab. */
function readLogged(output: string): Readonly<Record<string, unknown>> {
  const [, logged] = /"(?:Effective )?KubeletConfiguration" config(?:uration)?=<\n([\s\S]*?)\n ?>/.exec(output) ?? []
  const config: unknown = logged === undefined ? undefined : parse(logged.replace(/^\t/gm, ''))
  if (!isObject(config)) throw new Error(`kubelet did not log its config: ${output.trim().slice(-300)}`)
  return config
}
