// SPDX-License-Identifier: Apache-2.0
/**
 * The verdict of a real kubelet on a config, asked by hand as a person would: its binary with the
 * candidate, in a directory that is thrown away and without a network. A kubeconfig that does not
 * exist ends it as soon as it has loaded and validated the config; one that nobody answers, and a
 * runtime that answers only at first, once it has started most of what there is. Without any, and
 * with a runtime that goes on to tell its version, it serves, and ends only over a fault.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { THERE } from '../preflight/corpus/candidate.ts'
import { answerStatus, answerWith, FakeRuntime } from '../runtime/fake-runtime.ts'
import { message } from '../runtime/wire.ts'
import { putCertificate } from './kubelet-certificate.ts'

export const ACCEPTED = 'accepted'

const LIMIT_MS = 60_000
/** A kubelet that goes on until then serves. */
const SERVES_MS = 20_000
const MOST_OUTPUT = 16 << 20
const LONGEST_WORDS = 300
/** How it ends on a config that it takes. With `rotateCertificates` it has other words for it. */
const ENDINGS = [/invalid kubeconfig: stat /, /unable to load kubeconfig: stat /, /get remote runtime typed version failed/]
/** The first minor with `--fail-cgroupv1`. */
const TELLS_CGROUPS_SINCE = 31
/** The first minor without `--container-runtime`: there is no other than a remote one. */
const ONLY_REMOTE_SINCE = 27
/** The only minor that loads no config unless it is told where its runtime is. */
const WITHOUT_DEFAULT_RUNTIME = 26

/** Whether the runtime and its images are there at all. */
const FIRST_QUESTIONS = /\/(?:Version|ImageFsInfo)$/
const UNIMPLEMENTED = 12
const VERSION = message({ 1: '0.1.0', 2: 'fake', 3: '1.0.0', 4: 'v1' })

const KUBECONFIG = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`

/**
 * The minors that can be started here. 1.20 reads its config before it asks for a runtime. Those
 * before 1.30 name the runtime's socket in a header that the HTTP/2 of Node.js does not take.
 */
export function canStart(minor: number): boolean {
  return minor === 20 || minor >= 30
}

/** 1.20 asks more of its runtime than it can here before it serves. */
export function canServe(minor: number): boolean {
  return minor >= 30
}

/**
 * How far kubelet gets: it has loaded the config, made its first parts, or made all but its cgroups
 * and begun to serve.
 */
export type Stage = 'load' | 'start' | 'serve'

export interface AskedKubelet {
  /** The path of the binary. */
  readonly binary: string
  /** The kubelet's version is 1.`minor`. */
  readonly minor: number
  /** Called for each config that it accepts, with all that it printed. */
  readonly onAccepted?: (text: string, output: string, flags: readonly string[]) => Promise<void>
}

/** `accepted`, or the words with which kubelet ended. */
async function askKubelet({ binary, minor, onAccepted }: AskedKubelet, text: string, stage: Stage): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-verdict-'))
  try {
    const inside = (name: string) => join(directory, name)
    const placed = text.replaceAll(THERE, inside('certificates/kubelet.crt'))
    writeFileSync(inside('config'), placed)
    if (stage === 'start') writeFileSync(inside('kubeconfig'), KUBECONFIG)
    await putCertificate(inside('certificates'))
    const runtime = `--container-runtime-endpoint=unix://${inside('runtime.sock')}`
    const flags = [
      `--config=${inside('config')}`,
      ...(stage === 'serve' ? [...WITHOUT_API, `--volume-plugin-dir=${inside('plugins')}`] : [`--kubeconfig=${inside('kubeconfig')}`]),
      `--root-dir=${inside('root')}`,
      `--cert-dir=${inside('certificates')}`,
      // On a machine with cgroup v1, 1.35 and later end there, and do not look at the rest.
      ...(minor >= TELLS_CGROUPS_SINCE ? ['--fail-cgroupv1=false'] : []),
      ...(stage !== 'load' && minor < ONLY_REMOTE_SINCE ? ['--container-runtime=remote'] : []),
      ...(stage !== 'load' || minor === WITHOUT_DEFAULT_RUNTIME ? [runtime] : []),
      ...(stage === 'load' ? [] : ['--hostname-override=nobody', '--fail-swap-on=false']),
    ]
    const ask = () => run(binary, flags, stage)
    const output = stage === 'load' ? await ask() : await withRuntime(inside('runtime.sock'), stage, ask)
    const verdict = readVerdict(output, directory)
    if (verdict === ACCEPTED) await onAccepted?.(placed, output, flags)
    return verdict
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Kubelet has no client then, and refuses to ask it. */
const WITHOUT_API = ['--authentication-token-webhook=false', '--authorization-mode=AlwaysAllow']

/**
 * Kubelet connects to its runtime before it reads most of the config, and later asks once more. It
 * makes cgroups only when it has heard of the runtime's status.
 */
async function withRuntime<Result>(socket: string, stage: Stage, use: () => Promise<Result>): Promise<Result> {
  const answered = new Set<string>()
  const runtime = new FakeRuntime(socket, (stream, path) => {
    if (stage === 'serve' && path.endsWith('/Version')) return answerWith(stream, VERSION)
    if (!FIRST_QUESTIONS.test(path) || answered.has(path)) return answerStatus(stream, UNIMPLEMENTED)
    answered.add(path)
    answerWith(stream, Buffer.alloc(0))
  })
  await runtime.listen()
  try {
    return await use()
  } finally {
    await runtime.close()
  }
}

/** Kubelet makes directories for logs, and looks for free ports. */
const SERVE = 'ip link set lo up && mount -t tmpfs none /var/log && exec "$0" "$@"'

function run(kubelet: string, flags: readonly string[], stage: Stage): Promise<string> {
  const options = {
    timeout: stage === 'serve' ? SERVES_MS : LIMIT_MS,
    maxBuffer: MOST_OUTPUT,
    killSignal: 'SIGKILL',
    // The kubelet ends so soon that to collect garbage only takes CPU.
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', GOGC: 'off' },
  } as const
  return new Promise((resolve, reject) => {
    const apart = stage === 'serve' ? ['--net', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', SERVE] : ['--net']
    execFile('unshare', [...apart, kubelet, ...flags], options, (error, output, errors) => {
      if (error?.killed !== true) resolve(`${output}\n${errors}`)
      else if (stage === 'serve') resolve('Error: kubelet serves')
      else reject(new Error(`kubelet did not end within ${LIMIT_MS} ms`))
    })
  })
}

function readVerdict(output: string, directory: string): string {
  const words = lastWords(output)
  if (words === undefined) return `kubelet ended without a word that is known: ${output.trim().slice(0, LONGEST_WORDS)}`
  if (ENDINGS.some((ending) => ending.test(words))) return ACCEPTED
  return words
    .replaceAll(directory, 'DIR')
    .replaceAll('\\"', '"')
    .replace(/[\p{Cc}\ufffd]/gu, ' ')
    .slice(0, LONGEST_WORDS)
}

/**
 * Why Go panics, or the last line of klog's that is fatal: by its severity, or as component-base's
 * `cli.Run` has it, or else any error. Up to 1.24 the command line ends with a plain `Error: `
 * instead, and its usage before that. With `logging.format: json` it is the last object, which is
 * no error stream's.
 */
function lastWords(output: string): string | undefined {
  const lines = output.split('\n')
  // Other threads may still complain, even after it, of the API server that nobody reaches.
  const fatal = [/^F\d{4} /, /^E\d{4} .*\] "(?:command failed|Failed to listen and serve)"/, /^E\d{4} /]
  const plain = fatal.map((pattern) => lines.findLast((line) => pattern.test(line))).find((line) => line !== undefined)
  const outside =
    lines.find((line) => line.startsWith('panic: ')) ??
    (plain === undefined ? lines.findLast((line) => line.startsWith('Error: ')) : undefined)
  if (outside !== undefined) return outside
  if (plain !== undefined) return plain.replace(/^[EF]\d{4} [\d:.]+ +\d+ [\w.-]+:\d+\] /, '')
  const structured = lines.findLast((line) => line.startsWith('{"ts"'))
  if (structured === undefined) return undefined
  const { msg, err } = Object(JSON.parse(structured))
  return err === undefined ? String(msg) : `${msg}: ${err}`
}

/** Two at a time. By the candidates' names. */
export async function askAll(
  kubelet: AskedKubelet,
  candidates: readonly { readonly name: string; readonly text: string }[],
  stage: Stage,
): Promise<ReadonlyMap<string, string>> {
  const verdicts = new Map<string, string>()
  const left = candidates.values()
  const ask = async (): Promise<void> => {
    for (const { name, text } of left) verdicts.set(name, await askKubelet(kubelet, text, stage))
  }
  await Promise.all([ask(), ask()])
  return verdicts
}
