// SPDX-License-Identifier: Apache-2.0
/** The mirror that this machine takes Debian from, by what its apt is configured with. */
import { run } from './tools.ts'

/**
 * Its address, which ends with a slash. A machine that has never asked its mirror for lists does so
 * now.
 */
export async function findMirror(): Promise<string> {
  const known = await askForMirror()
  if (known !== undefined) return known
  // Another repository that does not answer is no reason to stop: what counts is whether Debian's
  // is known afterwards.
  const refreshed = await run('apt-get', ['update']).catch((error: unknown) => error)
  const mirror = await askForMirror()
  if (mirror !== undefined) return mirror
  throw new Error('apt knows no mirror of Debian: name one in /etc/apt/sources.list.d', { cause: refreshed })
}

async function askForMirror(): Promise<string | undefined> {
  const filter = ['Created-By: Packages', 'Origin: Debian', 'Label: Debian', 'Component: main']
  const output = await run('apt-get', ['indextargets', '--format', '$(REPO_URI)', ...filter])
  return output.split('\n').find((line) => line !== '')
}
