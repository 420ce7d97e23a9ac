/**
 * What a real kubelet says of a config, asked by hand as a person would: its binary with the
 * candidate, in a directory that is thrown away and without a network. A kubeconfig that does not
 * exist ends it as soon as it has loaded and validated the config; one that nobody answers, and a
 * runtime that answers only at first, once it has started most of what there is.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { THERE } from '../preflight/corpus/candidate.ts'
import { answerStatus, answerWith, FakeRuntime } from '../runtime/fake-runtime.ts'
import { putCertificate } from './kubelet-certificate.ts'

export const ACCEPTED = 'accepted'

const LIMIT_MS = 60_000
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

export interface AskedKubelet {
  /** The path of the binary. */
  readonly binary: string
  /** Its version is 1.`minor`. */
  readonly minor: number
  /** Called for each config that it accepts, with all that it printed. */
  readonly onAccepted?: (text: string, output: string, flags: readonly string[]) => Promise<void>
}

/** `accepted`, or the words with which kubelet ended. */
export async function askKubelet({ binary, minor, onAccepted }: AskedKubelet, text: string, stage: 'load' | 'start'): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-verdict-'))
  try {
    const inside = (name: string) => join(directory, name)
    writeFileSync(inside('config'), text.replaceAll(THERE, inside('certificates/kubelet.crt')))
    if (stage === 'start') writeFileSync(inside('kubeconfig'), KUBECONFIG)
    await putCertificate(inside('certificates'))
    const runtime = `--container-runtime-endpoint=unix://${inside('runtime.sock')}`
    const flags = [
      `--config=${inside('config')}`,
      `--kubeconfig=${inside('kubeconfig')}`,
      `--root-dir=${inside('root')}`,
      `--cert-dir=${inside('certificates')}`,
      // On a machine with cgroup v1, 1.35 and later end there, and do not look at the rest.
      ...(minor >= TELLS_CGROUPS_SINCE ? ['--fail-cgroupv1=false'] : []),
      ...(stage === 'start' && minor < ONLY_REMOTE_SINCE ? ['--container-runtime=remote'] : []),
      ...(stage === 'start' || minor === WITHOUT_DEFAULT_RUNTIME ? [runtime] : []),
      ...(stage === 'start' ? ['--hostname-override=nobody', '--fail-swap-on=false'] : []),
    ]
    const output = stage === 'start' ? await withRuntime(inside('runtime.sock'), () => run(binary, flags)) : await run(binary, flags)
    const verdict = readVerdict(output, directory)
    if (verdict === ACCEPTED) await onAccepted?.(text, output, flags)
    return verdict
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Kubelet connects to its runtime before it reads most of the config, and later asks once more. */
async function withRuntime<Result>(socket: string, use: () => Promise<Result>): Promise<Result> {
  const answered = new Set<string>()
  const runtime = new FakeRuntime(socket, (stream, path) => {
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

function run(kubelet: string, flags: readonly string[]): Promise<string> {
  const options = {
    timeout: LIMIT_MS,
    maxBuffer: MOST_OUTPUT,
    killSignal: 'SIGKILL',
    // It ends so soon that to collect garbage only takes CPU.
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', GOGC: 'off' },
  } as const
  return new Promise((resolve, reject) => {
    execFile('unshare', ['--net', kubelet, ...flags], options, (error, output, errors) => {
      if (error?.killed === true) reject(new Error(`kubelet did not end within ${LIMIT_MS} ms`))
      else resolve(`${output}\n${errors}`)
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
  const fatal = [/^F\d{4} /, /^E\d{4} .*\] "command failed"/, /^E\d{4} /]
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
  stage: 'load' | 'start',
): Promise<ReadonlyMap<string, string>> {
  const verdicts = new Map<string, string>()
  const left = candidates.values()
  const ask = async (): Promise<void> => {
    for (const { name, text } of left) verdicts.set(name, await askKubelet(kubelet, text, stage))
  }
  await Promise.all([ask(), ask()])
  return verdicts
}
