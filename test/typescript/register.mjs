/**
 * `node --import ./test/typescript/register.mjs`: Node loads TypeScript from then on. tap gives it
 * to the process of every test file.
 */
import { register } from 'node:module'

register('./hooks.mjs', import.meta.url)
