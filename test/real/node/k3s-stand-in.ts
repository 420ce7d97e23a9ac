// SPDX-License-Identifier: Apache-2.0
/**
 * A node as k3s leaves it: the unit of k3s, and in place of k3s a program that shows the same to
 * the agent (`k3s-stand-in/main.go` says what). It is built once, into the lab's cache.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../lab/build.ts'
import { findGo } from '../lab/go-toolchain.ts'
import { withLock } from '../lab/lock.ts'
import { run } from '../lab/processes.ts'

const SOURCE = join(import.meta.dirname, 'k3s-stand-in/main.go')

export const K3S_PROGRAM = '/usr/local/bin/k3s'
export const K3S_UNIT = 'k3s-agent'
export const K3S_CONFIG_DIR = '/var/lib/rancher/k3s/agent/etc/kubelet.conf.d'
export const K3S_KUBECONFIG = '/var/lib/rancher/k3s/agent/kubelet.kubeconfig'
/** The file that the stand-in makes `00-k3s-defaults.conf` of. */
export const K3S_DEFAULTS = '/etc/rancher/k3s/kubelet-defaults.json'
export const K3S_RUNTIME = 'unix:///run/k3s/containerd/containerd.sock'

/** The unit as the installer of k3s writes it for an agent, as far as it matters here. */
export function k3sUnit(name: string): Record<string, string> {
  return {
    [`/etc/systemd/system/${K3S_UNIT}.service`]: `[Unit]
Description=Lightweight Kubernetes
Wants=network-online.target
After=network-online.target lab-kernel-settings.service
Requires=lab-kernel-settings.service

[Service]
Type=exec
EnvironmentFile=-/etc/systemd/system/${K3S_UNIT}.service.env
KillMode=process
Delegate=yes
LimitNOFILE=1048576
TasksMax=infinity
TimeoutStartSec=0
Restart=always
RestartSec=5s
ExecStart=${K3S_PROGRAM} agent --kubelet-arg=hostname-override=${name} --config=/etc/rancher/k3s/config.yaml

[Install]
WantedBy=multi-user.target
`,
  }
}

/** Builds it if need be. */
export async function ensureK3sStandIn(report: (line: string) => void = console.log): Promise<string> {
  const hash = createHash('sha256').update(await readFile(SOURCE))
  const built = join(cacheDirectory(), `k3s-stand-in-${process.arch}-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(built)) return built
  await mkdir(cacheDirectory(), { recursive: true })
  await withLock(join(cacheDirectory(), 'build.lock'), async () => {
    if (existsSync(built)) return
    const work = `${built}.building`
    const go = await findGo(join(work, 'go'), report)
    await mkdir(work, { recursive: true })
    const env = { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOOS: undefined, GOARCH: undefined, ...go.env }
    await run(go.file, ['build', '-o', join(work, 'k3s'), SOURCE], { cwd: work, env, timeoutMs: 10 * 60_000 })
    await rename(join(work, 'k3s'), built)
    await rm(work, { recursive: true })
  })
  return built
}
