// SPDX-License-Identifier: Apache-2.0
/**
 * A kubelet that only processes its config, as the real one does: it loads, decodes and validates
 * it, with the real error messages, exits a little later for the same reasons, and otherwise serves
 * /healthz and /configz. It exits with its supervisor.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { findHealthPort } from '../../src/kubelet/config-file.ts'
import { decodeConfig, type KubeletConfig } from '../../src/kubelet/decode.ts'
import { parseDocument } from '../../src/kubelet/yaml.ts'
import { asArguments, flagValue } from '../../src/systemd/command-line.ts'
import { parseGoDuration } from '../../src/values/go-syntax.ts'
import { validateConfig } from './validate-config.ts'

const CRASH_AFTER_MS = 200
const HEALTHY_AFTER_MS = 200

process.stdin.on('end', () => process.exit(0)).resume()
process.on('SIGTERM', () => process.exit(0))

const flags = asArguments(process.argv.slice(2))
const configPath = flagValue(flags, 'config')
console.error(`I Starting kubelet with --config=${configPath}`)
const config = loadConfig()
setTimeout(() => exitOnBadValues(config), CRASH_AFTER_MS)
checkRuntime(flagValue(flags, 'container-runtime-endpoint') ?? config.containerRuntimeEndpoint)
serve(config)

function loadConfig(): KubeletConfig {
  if (configPath === undefined) return {}
  let text = ''
  try {
    text = readFileSync(configPath, 'utf8')
  } catch (error) {
    die(`failed to load Kubelet config file ${configPath}, error failed to read kubelet config file "${configPath}", error: ${error}`)
  }
  const decoded = decodeConfig(text, parseDocument)
  if (!decoded.ok) return die(`failed to load Kubelet config file ${configPath}, error failed to decode: ${decoded.detail}`)
  const problems = validateConfig(decoded.config)
  return problems.length === 0 ? decoded.config : die(`invalid configuration: ${problems.join(', ')}`)
}

/** In less time no container runtime answers. */
const SOONEST_ANSWER_NS = 100_000n

/**
 * For values that pass validation, but make the real kubelet exit when it connects to its container
 * runtime (`NewRemoteRuntimeService`, pkg/kubelet/cri/remote) or sets up cgroups.
 */
function exitOnBadValues({ cgroupRoot, cgroupsPerQOS, runtimeRequestTimeout }: KubeletConfig): void {
  const timeoutNs = typeof runtimeRequestTimeout === 'string' ? parseGoDuration(runtimeRequestTimeout) : undefined
  // kubelet takes its default in place of 0.
  if (timeoutNs !== undefined && timeoutNs !== 0n && timeoutNs < SOONEST_ANSWER_NS) die('failed to run Kubelet: context deadline exceeded')
  if (cgroupsPerQOS === false || typeof cgroupRoot !== 'string' || cgroupRoot === '' || existsSync(`/sys/fs/cgroup${cgroupRoot}`)) return
  die(`Failed to start ContainerManager invalid configuration: cgroup-root ["${cgroupRoot.slice(1)}"] doesn't exist`)
}

function checkRuntime(endpoint: unknown): void {
  if (typeof endpoint !== 'string' || !endpoint.startsWith('unix://')) return
  const socket = connect({ path: endpoint.slice('unix://'.length) }, () => socket.destroy())
  socket.on('error', (error) =>
    die(`failed to run Kubelet: failed to create kubelet: get remote runtime typed version failed: ${error.message}`),
  )
}

function serve(served: KubeletConfig): void {
  const target = findHealthPort(served)
  if (target === 'none') return
  const startedAt = performance.now()
  const server = createServer(({ url }, response) => {
    const healthy = performance.now() - startedAt >= HEALTHY_AFTER_MS
    if (url === '/healthz') response.writeHead(healthy ? 200 : 500).end(healthy ? 'ok' : 'not yet')
    else if (url === '/configz')
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ kubeletconfig: served }))
    else response.writeHead(404).end()
  })
  // The real kubelet logs this and tries again every 5 s.
  server.on('error', (error) => {
    console.error(`E Starting healthz server failed: ${error.message}`)
    setTimeout(() => server.listen(target.port, target.host), 1000)
  })
  server.listen(target.port, target.host)
}

function die(message: string): never {
  console.error(`F ${message}`)
  process.exit(255)
}
