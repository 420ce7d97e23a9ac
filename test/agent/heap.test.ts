/** V8 prints a complaint about a flag that it does not know, in the middle of the agent's log. */
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

t.test('this Node.js knows every flag', async (t) => {
  const program = "const { keepHeapSmall } = await import('./src/agent/heap.ts'); keepHeapSmall(); console.log('kept small')"
  const args = ['--import', './test/typescript/register.mjs', '--input-type=module', '--eval', program]
  const { stdout, stderr } = await run(process.execPath, args, { cwd: ROOT })
  t.equal(stdout, 'kept small\n')
  t.equal(stderr, '')
})
