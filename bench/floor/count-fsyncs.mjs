/** Loaded before the agent (`node --import`): says on the inherited descriptor 3 of each fsync which path it was for. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { fsyncSync } = fs
fs.fsyncSync = (descriptor) => {
  fs.writeSync(3, `${fs.readlinkSync(`/proc/self/fd/${descriptor}`)}\n`)
  return fsyncSync(descriptor)
}
syncBuiltinESMExports()
