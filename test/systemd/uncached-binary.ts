/** Kubelet's program, read anew by each new reader. */
import { FileKubeletBinary } from '../../src/systemd/binary-identity.ts'

export function uncachedBinary(patienceMs?: number): FileKubeletBinary {
  return new FileKubeletBinary({ read: () => undefined, makeDirectory: () => {}, replace: () => {} }, '/run/none', patienceMs)
}
