/** The paths of the files of one probe, below its own directory. Pure: creates none of them. */
import { join } from 'node:path'
import type { JudgeStage, ProbePlaces } from './judgement.ts'

/**
 * For `TemporaryFileSystem=`, where colons, white space, quotes, backslashes and percent signs have
 * a special meaning.
 */
const PLAIN_PATH = /^\/[\w./+@,-]*$/

export function isPlainPath(path: string): boolean {
  return PLAIN_PATH.test(path)
}

export function placesIn(directory: string, key: string, stage: JudgeStage): ProbePlaces {
  const candidate = join(directory, 'candidate')
  const scratch = join(directory, 'scratch')
  return {
    directory,
    candidate,
    config: join(candidate, key),
    scratch,
    certificates: join(directory, 'certificates'),
    kubeconfig: stage === 'load' ? join(scratch, 'no-kubeconfig') : join(directory, 'kubeconfig'),
    runtimeSocket: join(scratch, 'no-runtime.sock'),
  }
}

/**
 * The files of kubelet's own certificate. Where both can be read, it makes no key
 * (`InitializeTLS`, cmd/kubelet/app/server.go). It reads what is in them when it begins to serve,
 * which no probe does.
 */
export const CERTIFICATE_FILES = ['kubelet.crt', 'kubelet.key'] as const

/**
 * Valid, but its server refuses connections: nothing listens on the probe's own loopback interface.
 */
export const UNREACHABLE_KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'nobody', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'nobody', user: {} }],
  contexts: [{ name: 'nobody', context: { cluster: 'nobody', user: 'nobody' } }],
  'current-context': 'nobody',
})
