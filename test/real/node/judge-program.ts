// SPDX-License-Identifier: Apache-2.0
/**
 * The judge as a program, to be run on a node of the lab: reads a list of questions from the file
 * it is given, asks them one after another, and writes what came of each, with the time it took, as
 * JSON.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { KubeletBinaries } from '../../../src/preflight/kubelet/binaries.ts'
import { type JudgeOptions, KubeletJudge } from '../../../src/preflight/kubelet/judge.ts'
import type { JudgeRequest, KubeletJudgement } from '../../../src/preflight/kubelet/judgement.ts'

declare const KUBELET_CFG_AGENT_STAND_IN: string

export interface Questions {
  readonly options: Pick<JudgeOptions, 'directory' | 'direct' | 'limits' | 'graceMs'> &
    Partial<Pick<JudgeOptions, 'systemdRun' | 'standIn'>>
  readonly requests: readonly Omit<JudgeRequest, 'signal'>[]
}
export interface Answer {
  readonly judgement: KubeletJudgement
  readonly ms: number
}

const { options, requests }: Questions = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const binaries = new KubeletBinaries()
const judge = new KubeletJudge({
  version: (binary) => binaries.version(binary),
  systemdRun: '/usr/bin/systemd-run',
  systemctl: '/usr/bin/systemctl',
  standIn: [process.execPath, fileURLToPath(new URL(KUBELET_CFG_AGENT_STAND_IN, import.meta.url))],
  memory: { read: () => undefined, write: () => {} },
  ...options,
})
const answers: Answer[] = []
for (const request of requests) {
  const startedAt = performance.now()
  const judgement = await judge.judge({ ...request, signal: new AbortController().signal })
  answers.push({ judgement, ms: Math.round(performance.now() - startedAt) })
}
process.stdout.write(`${JSON.stringify(answers)}\n`)
