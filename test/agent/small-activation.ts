// SPDX-License-Identifier: Apache-2.0
/** Each kind of activation on the disk of a small world. */

import type { Activation } from '../../src/ports/activation.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Files } from '../../src/ports/files.ts'
import type { Log } from '../../src/ports/log.ts'
import type { ActivationKind, ReadyWiring } from '../../src/subject/unit-state.ts'
import { UnitActivation } from '../../src/systemd/activation.ts'
import { dropInWiring, envWiring, fileWiring } from '../../src/systemd/wiring-kinds.ts'

/** Where things are. */
export interface SmallPlace {
  readonly directory: string
  readonly runtimeDir: string
  readonly envFile: string
  readonly localPath: string
  readonly dropIns: string
}

export function openSmallActivation(
  parts: { files: Files; clock: Clock; log: Log },
  { directory, runtimeDir, envFile }: SmallPlace,
): Activation {
  return new UnitActivation({ ...parts, ownership: { give: () => {} }, dynamicConfigDir: directory, runtimeDir, envFile })
}

export function wiringFor(kind: ActivationKind, { envFile, localPath, dropIns }: SmallPlace): ReadyWiring {
  switch (kind) {
    case 'env':
      return envWiring(envFile, `--config=${localPath}`)
    case 'file':
      return fileWiring(localPath)
    case 'drop-in':
      return dropInWiring(dropIns)
  }
}
