// SPDX-License-Identifier: Apache-2.0
/**
 * The process of the world: an API server and kubelet's unit. Started by client.ts; answers its
 * calls one by one.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { type ApiRequest, nodeIdentity } from '../../demo/api-server/request.ts'
import { type ApiServer, startApiServer } from '../../demo/api-server/server.ts'
import { monotonicUs } from '../processes.ts'
import { type BenchBus, startBus } from './bus.ts'
import { CONFIG_MAPS, conditions, configMap, type Follower, KEY, NAMESPACE, NODE, node, payload } from './objects.ts'
import type { Answer, Call, World, WorldOptions, WorldPaths } from './protocol.ts'
import { type BenchUnit, startUnit } from './unit.ts'

const WAIT_MS = 30_000
/**
 * The agent restarts kubelet at most 60 times an hour; it counts them in a record of the present
 * boot.
 */
const FORGET_RESTARTS_EVERY = 50

class BenchWorld implements World {
  #server: ApiServer | undefined
  #unit: BenchUnit | undefined
  #bus: BenchBus | undefined
  #paths: WorldPaths | undefined
  #format: WorldOptions['format'] = 'json'
  #serial = 0
  /** When the API server accepted the last change of a ConfigMap. */
  #acceptedUs = 0
  readonly #watches = new Map<string, number>()

  async open(options: Parameters<World['open']>[0]): Promise<WorldPaths> {
    const { dir, memoryDir, systemctlCostUs, kubeletVersion, kubelet, kubeletFlags, format } = options
    this.#format = format
    const server = await startApiServer({
      authorize: (request) => this.#noteWatch(request),
      historyLimit: 200,
    })
    this.#server = server
    // Registered before any watch: the server notifies its watchers after it has accepted the
    // change.
    server.store.onEvent(({ plural }) => {
      if (plural === 'configmaps') this.#acceptedUs = monotonicUs()
    })
    const stateDir = join(dir, 'state')
    const envFile = join(stateDir, 'kubelet.env')
    const systemBus = join(memoryDir, 'bus')
    const bus = await startBus(systemBus)
    this.#bus = bus
    const onChange = () => bus.signal()
    const unitOptions = { costUs: systemctlCostUs, version: kubeletVersion, kubelet, flags: kubeletFlags, onChange }
    const unit = await startUnit(join(memoryDir, 'systemd'), envFile, unitOptions)
    this.#unit = unit
    for (const name of Object.values(CONFIG_MAPS)) server.objects.put(configMap(name, this.#write(0, unit)))
    server.objects.put(node(new Date().toISOString()))

    const tlsDir = join(dir, 'tls')
    mkdirSync(tlsDir)
    const { certificate, key } = server.issueCertificate(nodeIdentity('floor-node'))
    for (const [name, text] of Object.entries({ 'ca.pem': server.caPem, 'cert.pem': certificate, 'key.pem': key }))
      writeFileSync(join(tlsDir, name), text)
    const kubeconfig = join(dir, 'kubelet.conf')
    writeFileSync(kubeconfig, server.kubeconfig(nodeIdentity(NODE)))
    this.#paths = {
      kubeconfig,
      systemctl: unit.systemctl,
      systemBus,
      stateDir,
      runtimeDir: join(memoryDir, 'run'),
      envFile,
      tlsDir,
      url: server.url,
    }
    return this.#paths
  }

  async change(follower: Follower): Promise<number> {
    const { server, unit, paths } = this.#opened()
    this.#serial += 1
    if (this.#serial % FORGET_RESTARTS_EVERY === 0) rmSync(join(paths.runtimeDir, 'restarts'), { force: true })
    const text = this.#write(this.#serial, unit)
    const restarted = unit.restarted(follower === 'agent' ? 'kubelet.service' : 'floor.service')
    const { metadata } = server.objects.put(configMap(CONFIG_MAPS[follower], text))
    const acceptedUs = this.#acceptedUs
    const startedUs = await inTime(restarted, `restart after ${follower}'s change ${this.#serial}`)
    if (follower === 'agent') checkSaved(paths, metadata.uid, metadata.resourceVersion, text)
    return startedUs - acceptedUs
  }

  async active(): Promise<void> {
    const { server } = this.#opened()
    const expected = server.objects.get('ConfigMap', CONFIG_MAPS.agent, NAMESPACE)?.metadata.resourceVersion
    const isActive = (): boolean => {
      const status: unknown = server.objects.get('Node', NODE)?.status
      return typeof status === 'object' && status !== null && 'config' in status && activeVersion(status.config) === expected
    }
    await inTime(
      new Promise<void>((resolve) => {
        if (isActive()) return resolve()
        const stop = server.store.onEvent(({ plural }) => {
          if (plural !== 'nodes' || !isActive()) return
          stop()
          resolve()
        })
      }),
      `status of the Node to name ${expected} as active`,
    )
  }

  async heartbeat(): Promise<void> {
    const { server } = this.#opened()
    server.objects.edit('Node', NODE, undefined, (object) => ({
      ...object,
      status: { ...(object.status as object), conditions: conditions(new Date().toISOString()), observed: monotonicUs() },
    }))
  }

  async firstWatch(nodeName: string): Promise<number> {
    const deadlineUs = monotonicUs() + WAIT_MS * 1000
    while (monotonicUs() < deadlineUs) {
      const atUs = this.#watches.get(nodeName)
      if (atUs !== undefined) {
        this.#watches.delete(nodeName)
        return atUs
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error(`no watch of ${nodeName} within ${WAIT_MS} ms`)
  }

  async close(): Promise<void> {
    this.#unit?.close()
    this.#bus?.close()
    await this.#server?.stop()
  }

  #opened(): { server: ApiServer; unit: BenchUnit; paths: WorldPaths } {
    if (this.#server === undefined || this.#unit === undefined || this.#paths === undefined) throw new Error('the world is not open')
    return { server: this.#server, unit: this.#unit, paths: this.#paths }
  }

  #write(serial: number, { healthzPort }: BenchUnit): string {
    const text = payload(serial, healthzPort)
    return this.#format === 'json' ? text : stringify(JSON.parse(text))
  }

  #noteWatch({ verb, query, target }: ApiRequest): true {
    const name = query.get('fieldSelector')?.replace('metadata.name=', '') ?? ''
    if (verb === 'watch' && target?.resource.kind === 'Node' && !this.#watches.has(name)) this.#watches.set(name, monotonicUs())
    return true
  }
}

/** The agent must have saved the version and recorded it as assigned before it restarts kubelet. */
function checkSaved({ stateDir }: WorldPaths, uid: string, resourceVersion: string, text: string): void {
  const saved = readFileSync(join(stateDir, 'checkpoints', uid, resourceVersion, KEY), 'utf8')
  const assigned = readFileSync(join(stateDir, 'meta', 'assigned'), 'utf8')
  if (saved !== text || !assigned.includes(`resourceVersion: "${resourceVersion}"`))
    throw new Error(`kubelet was restarted before version ${resourceVersion} was saved`)
}

function activeVersion(config: unknown): string | undefined {
  const { active } = (config ?? {}) as { readonly active?: { readonly configMap?: { readonly resourceVersion?: string } } }
  return active?.configMap?.resourceVersion
}

async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${WAIT_MS} ms in vain for ${what}`)), WAIT_MS)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

const world = new BenchWorld()
process.on('message', async ({ id, method, args }: Call) => {
  const answer = (reply: Answer): void => void process.send?.(reply)
  try {
    const run = world[method].bind(world) as (...given: readonly unknown[]) => Promise<unknown>
    answer({ id, ok: true, result: await run(...args) })
  } catch (error) {
    answer({ id, ok: false, message: error instanceof Error ? error.message : String(error) })
  }
})
process.on('disconnect', () => process.exit(0))
