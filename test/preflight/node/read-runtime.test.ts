// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { ContainerRuntime } from '../../../src/ports/probes.ts'
import { readImageService, readRuntime } from '../../../src/preflight/node/read-runtime.ts'

const SOCKET = '/run/containerd/containerd.sock'
const SYSTEMD = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]\nSystemdCgroup = true\n'

type Runtime = Pick<ContainerRuntime, 'probe' | 'cgroupDriver' | 'imageDirectory'>
const OLD: Runtime = {
  probe: async () => ({ ok: true, value: { runtimeReady: true } }),
  cgroupDriver: async () => ({ ok: true, value: 'not-offered' }),
  imageDirectory: async () => ({ ok: true, value: undefined }),
}
const inFile = (driver: string) => ({ fault: undefined, cgroup: { driver, from: 'file' } })
const UNKNOWN = { fault: undefined, cgroup: undefined }

t.test('the runtime tells itself', async (t) => {
  const runtime: Runtime = { ...OLD, cgroupDriver: async () => ({ ok: true, value: 'cgroupfs' }) }
  t.strictSame(await readRuntime('/run/crio/crio.sock', runtime), { fault: undefined, cgroup: { driver: 'cgroupfs', from: 'answer' } })
  const down: Runtime = { ...OLD, probe: async () => ({ ok: false, why: 'down', detail: 'no answer within 10 s' }) }
  t.strictSame(await readRuntime(SOCKET, down), { fault: { why: 'down', detail: 'no answer within 10 s' }, cgroup: undefined })
  const half: Runtime = { ...OLD, cgroupDriver: async () => ({ ok: false, why: 'down', detail: 'gRPC status 14' }) }
  t.strictSame(await readRuntime(SOCKET, half), UNKNOWN)
})

t.test("containerd's config file does, where the runtime does not", async (t) => {
  const root = (files: Record<string, string>) => t.testdir({ etc: { containerd: files } })
  t.strictSame(await readRuntime(SOCKET, OLD, root({ 'config.toml': SYSTEMD })), inFile('systemd'))
  t.strictSame(await readRuntime(SOCKET, OLD, root({ 'config.toml': 'version = 2\n' })), inFile('cgroupfs'))
  t.strictSame(await readRuntime('/run/crio/crio.sock', OLD, root({ 'config.toml': SYSTEMD })), UNKNOWN, 'of another runtime')
  t.strictSame(await readRuntime(SOCKET, OLD, root({ 'config.toml': `${SYSTEMD}[grpc]\naddress = "/run/other.sock"\n` })), UNKNOWN)
  t.strictSame(await readRuntime(SOCKET, OLD, root({})), UNKNOWN, 'it may have been started with another file')
  t.strictSame(await readRuntime(SOCKET, OLD, root({ 'config.toml': 'nonsense' })), UNKNOWN)
  t.strictSame(await readRuntime(SOCKET, OLD, root({ 'config.toml': `#${' '.repeat(1 << 20)}\n${SYSTEMD}` })), UNKNOWN, 'too long')
})

t.test('with what it imports', async (t) => {
  const read = (imports: string, files: Record<string, string> = {}) =>
    readRuntime(
      SOCKET,
      OLD,
      t.testdir({ etc: { containerd: { 'config.toml': `version = 2\nimports = [${imports}]\n`, 'conf.d': files } } }),
    )
  t.strictSame(await read('"/etc/containerd/conf.d/*.toml"', { 'a.toml': SYSTEMD, 'b.txt': 'nonsense' }), inFile('systemd'))
  t.strictSame(await read('"conf.d/a.toml"', { 'a.toml': SYSTEMD }), inFile('systemd'), 'relative to the file')
  t.strictSame(await read('"/etc/none/*.toml"'), inFile('cgroupfs'), 'none')
  t.strictSame(await read('"conf.d/none.toml"'), UNKNOWN)
  t.strictSame(await read('"conf.d/[ab].toml"', { 'a.toml': SYSTEMD }), UNKNOWN)
  t.strictSame(await read('"/etc/*/a.toml"', { 'a.toml': SYSTEMD }), UNKNOWN)
  t.strictSame(await read('"conf.d/a.toml"', { 'a.toml': `imports = ["x"]\n${SYSTEMD}` }), UNKNOWN)
})

t.test('an image service', async (t) => {
  const fails = (why: 'down' | 'not-cri' | 'not-allowed'): Runtime => ({ ...OLD, probe: async () => ({ ok: false, why, detail: 'd' }) })
  t.strictSame(await readImageService('/run/images.sock', fails('down')), { fault: { why: 'down', detail: 'd' } })
  t.strictSame(await readImageService('/run/images.sock', fails('not-allowed')), { fault: { why: 'not-allowed', detail: 'd' } })
  t.strictSame(await readImageService('/run/images.sock', fails('not-cri')), { fault: undefined }, 'it knows only images')
})

t.test('where images are kept', async (t) => {
  const keeps = (directory: string): Runtime => ({ ...OLD, imageDirectory: async () => ({ ok: true, value: directory }) })
  t.strictSame(await readRuntime('/run/crio/crio.sock', keeps('/images')), { ...UNKNOWN, imageDirectory: '/images' })
  t.strictSame(await readRuntime('/run/crio/crio.sock', keeps('images')), UNKNOWN)
  t.strictSame(await readImageService('/run/images.sock', keeps('/images')), { fault: undefined, imageDirectory: '/images' })
  const silent: Runtime = { ...OLD, imageDirectory: async () => ({ ok: false, why: 'down', detail: 'd' }) }
  t.strictSame(await readImageService('/run/images.sock', silent), { fault: undefined })
})
