/**
 * What a real kubelet says of a config, asked by hand as a person would: its binary with the
 * candidate, in a directory that is thrown away and without a network. A kubeconfig that does not
 * exist ends it as soon as it has loaded and validated the config; one that nobody answers, and a
 * runtime that is not there, once it has started most of what there is.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const ACCEPTED = 'accepted'

const LIMIT_MS = 60_000
const MOST_OUTPUT = 16 << 20
const LONGEST_WORDS = 200
/**
 * How it ends on a config that it takes. With `rotateCertificates` it has other words for it, and
 * 1.35 and later find nothing wrong but the machine where that has cgroup v1.
 */
const ENDINGS = [
  /invalid kubeconfig: stat /,
  /unable to load kubeconfig: stat /,
  /get remote runtime typed version failed/,
  /configuration, error: kubelet is configured to not run on a host using cgroup v1/,
]

const KUBECONFIG = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`

/** `accepted`, or the words with which kubelet ended. */
export async function askKubelet(kubelet: string, text: string, stage: 'load' | 'start'): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-verdict-'))
  try {
    const inside = (name: string) => join(directory, name)
    writeFileSync(inside('config'), text)
    if (stage === 'start') writeFileSync(inside('kubeconfig'), KUBECONFIG)
    const runtime = `--container-runtime-endpoint=unix://${inside('no.sock')}`
    const flags = [
      `--config=${inside('config')}`,
      `--kubeconfig=${inside('kubeconfig')}`,
      `--root-dir=${inside('root')}`,
      `--cert-dir=${inside('certificates')}`,
      ...(stage === 'start' ? ['--container-runtime=remote', runtime, '--hostname-override=nobody', '--fail-swap-on=false'] : []),
    ]
    return readVerdict(await run(kubelet, flags), directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function run(kubelet: string, flags: readonly string[]): Promise<string> {
  const options = {
    timeout: LIMIT_MS,
    maxBuffer: MOST_OUTPUT,
    killSignal: 'SIGKILL',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
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
    .replace(/[\p{Cc}\ufffd]/gu, ' ')
    .slice(0, LONGEST_WORDS)
}

/**
 * The last line of klog's that is fatal, or else an error; with `logging.format: json` the last
 * object, which is no error stream's.
 */
function lastWords(output: string): string | undefined {
  const lines = output.split('\n')
  // Beside the fatal one, other threads may still complain of the API server that nobody reaches.
  const plain = lines.findLast((line) => /^F\d{4} /.test(line)) ?? lines.findLast((line) => /^E\d{4} /.test(line))
  if (plain !== undefined) return plain.replace(/^[EF]\d{4} [\d:.]+ +\d+ [\w.-]+:\d+\] /, '')
  const structured = lines.findLast((line) => line.startsWith('{"ts"'))
  if (structured === undefined) return undefined
  const { msg, err } = Object(JSON.parse(structured))
  return err === undefined ? String(msg) : `${msg}: ${err}`
}

/** Two at a time. By the candidates' names. */
export async function askAll(
  kubelet: string,
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
