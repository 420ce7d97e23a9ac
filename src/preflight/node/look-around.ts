// SPDX-License-Identifier: Apache-2.0
/**
 * All that the rules want to know of this node for one candidate: what `read-surroundings.ts`
 * finds, and what the container runtime says. Pure; who looks is passed in.
 */
import {
  type ImageServiceFacts,
  NOTHING_KNOWN,
  NOTHING_NEEDED,
  type RuntimeFacts,
  type SurroundingNeeds,
  type Surroundings,
} from './surroundings.ts'

export interface NodeReaders {
  lookAround(needs: SurroundingNeeds, limitMs: number): Promise<Surroundings>
  readRuntime(socket: string): Promise<RuntimeFacts>
  readImageService(socket: string): Promise<ImageServiceFacts>
}

/**
 * The time limit for files and sockets on the node that may hang (a dead network mount). A guard
 * finds nothing in facts that come later, so a starved node must not exceed it.
 */
const LOOK_AROUND_MS = 5000

export async function lookAtNode(readers: NodeReaders, needs: SurroundingNeeds): Promise<Surroundings> {
  const { imageSocket, runtimeSocket } = needs
  const asked = runtimeSocket === undefined ? undefined : readers.readRuntime(runtimeSocket)
  const askedForImages = imageSocket === undefined ? undefined : readers.readImageService(imageSocket)
  const found = await readers.lookAround(needs, LOOK_AROUND_MS)
  const [runtime, imageService] = [await asked, await askedForImages]
  const directory = (imageService ?? runtime)?.imageDirectory
  const images =
    directory === undefined ? NOTHING_KNOWN : await readers.lookAround({ ...NOTHING_NEEDED, fileSystems: [directory] }, LOOK_AROUND_MS)
  return { ...found, runtime, imageService, fileSystems: new Map([...found.fileSystems, ...images.fileSystems]) }
}
