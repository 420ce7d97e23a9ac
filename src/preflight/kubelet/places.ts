/** Where the files of one probe are, below a directory of its own. Pure: it makes none of them. */
import { join } from 'node:path'
import type { JudgeStage, ProbePlaces } from './judgement.ts'

/** systemd takes it in `TemporaryFileSystem=`, where colons, white space, quotes, backslashes and percent signs mean something. */
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
    kubeconfig: stage === 'load' ? join(scratch, 'no-kubeconfig') : join(directory, 'kubeconfig'),
    runtimeSocket: join(scratch, 'no-runtime.sock'),
  }
}

/** Valid, and of a server that refuses: a probe has a loopback of its own with nothing on it. */
export const UNREACHABLE_KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'nobody', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'nobody', user: {} }],
  contexts: [{ name: 'nobody', context: { cluster: 'nobody', user: 'nobody' } }],
  'current-context': 'nobody',
})
