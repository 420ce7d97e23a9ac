// SPDX-License-Identifier: Apache-2.0
/**
 * `node --import ./test/typescript/register.mjs`: Node loads TypeScript from then on. Every process
 * of a test has it.
 */
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'
import * as hooks from './hooks.mjs'

// In the same thread. Node.js 20 has only hooks in a thread of their own, which costs each module
// a message there and back.
if (module.registerHooks === undefined) module.register('./hooks.mjs', import.meta.url)
else module.registerHooks(hooks)

// Keeps what Node.js compiled for the next process: a tenth of the CPU of a short test.
module.enableCompileCache?.(fileURLToPath(new URL('../../.tap/compiled', import.meta.url)))
