// SPDX-License-Identifier: Apache-2.0
/**
 * The parts of the demo, in one temporary directory: the embedded API server, and nodes with the
 * real agent. Closing it ends every process and removes the directory.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readNodeConfig } from '../src/report/node-config.ts'
import type { ConfigStatus } from '../src/report/status.ts'
import type { LogLine } from './agent-process.ts'
import { section } from './api-server/objects.ts'
import { type ApiServer, startApiServer } from './api-server/server.ts'
import type { StoreEvent } from './api-server/store.ts'
import { type DemoNode, type End, type NodeOptions, startNode } from './node.ts'
import type { Pace } from './pace.ts'

export const NODE = 'worker-1'
/** The default is ten minutes. */
export const TRIAL_SECONDS = 4

interface WorldOptions {
  /** The bundled agent. */
  readonly program: string
  readonly pace: Pace
  /** Called when the directory exists; it is still empty. */
  onStart(directory: string): void
  onAgentLine(line: LogLine): void
  onKubeletLine(line: string): void
  onObject(event: StoreEvent): void
}

/** The node of most acts, and what it is in. */
export interface World extends DemoNode {
  readonly directory: string
  /** The bundled agent. */
  readonly program: string
  readonly api: ApiServer
  /** All nodes, the first one as well. */
  readonly nodes: readonly DemoNode[]
  addNode(node: Pick<NodeOptions, 'name' | 'trialSeconds' | 'isOfMany' | 'spec' | 'onAgentLine' | 'onKubeletLine'>): Promise<DemoNode>
  /** The Node's status.config, unparsed. */
  configOnNode(): unknown
  /** The same, parsed. */
  status(): ConfigStatus | 'absent'
  close(): Promise<void>
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-demo-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  const ends: End[] = []
  const lastResort = () => {
    for (const { kill } of ends) kill?.()
    remove()
  }
  process.once('exit', lastResort)
  options.onStart(directory)
  const close = async () => {
    const [api, ...nodes] = ends
    await Promise.all(nodes.map((node) => node.close()))
    await api?.close()
    process.off('exit', lastResort)
    remove()
  }
  try {
    return { ...(await populate(options, directory, ends)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function populate(options: WorldOptions, directory: string, ends: End[]): Promise<Omit<World, 'close'>> {
  const { program, pace, onAgentLine, onKubeletLine } = options
  const api = await startApiServer()
  ends.push({ close: () => api.stop() })
  const nodes: DemoNode[] = []
  const add = async (node: NodeOptions): Promise<DemoNode> => {
    const own: End[] = []
    ends.push({ close: () => closeLastFirst(own), kill: () => void own.map(({ kill }) => kill?.()) })
    const added = await startNode(node, own)
    nodes.push(added)
    return added
  }
  const first = await add({ name: NODE, directory, api, program, pace, trialSeconds: TRIAL_SECONDS, onAgentLine, onKubeletLine })
  api.store.onEvent((event) => options.onObject(event))
  return {
    ...first,
    ...{ directory, program, api, nodes },
    addNode: (node) => {
      const itsDirectory = join(directory, 'nodes', node.name)
      mkdirSync(itsDirectory, { recursive: true })
      // Shorter trials make shorter pauses between two looks, too.
      return add({ ...node, directory: itsDirectory, api, program, pace: { ...pace, restartSecMs: pace.restartSecMs / 2 } })
    },
    configOnNode: () => section(api.objects.get('Node', NODE) ?? {}, 'status').config,
    status: () => readNodeConfig(api.objects.get('Node', NODE)),
  }
}

async function closeLastFirst(ends: readonly End[]): Promise<void> {
  for (const { close } of ends.toReversed()) await close()
}
