// SPDX-License-Identifier: Apache-2.0
/**
 * Loaded before the agent (`node --import`): writes the path of each fsync to the inherited
 * descriptor 3.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { fsyncSync } = fs
fs.fsyncSync = (descriptor) => {
  fs.writeSync(3, `${fs.readlinkSync(`/proc/self/fd/${descriptor}`)}\n`)
  return fsyncSync(descriptor)
}
syncBuiltinESMExports()
