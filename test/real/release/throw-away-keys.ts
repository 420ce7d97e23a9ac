// SPDX-License-Identifier: Apache-2.0
/** Keys to sign the repositories of a test with. They and their agents end with the test. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openSigner, type Signer } from '../../../scripts/release/signer.ts'
import { run } from '../lab/processes.ts'

export interface ThrowAwayKeys {
  readonly ours: Signer
  readonly somebodyElses: Signer
}

export async function withThrowAwayKeys(directory: string, work: (keys: ThrowAwayKeys) => Promise<void>): Promise<void> {
  const home = join(directory, 'keys')
  const env = { GNUPGHOME: home }
  await mkdir(home, { recursive: true, mode: 0o700 })
  try {
    await work({ ours: await makeKey(home, 'ours@example.org'), somebodyElses: await makeKey(home, 'somebody.else@example.org') })
  } finally {
    await run('gpgconf', ['--kill', 'gpg-agent'], { env })
  }
}

async function makeKey(home: string, address: string): Promise<Signer> {
  const options = ['--batch', '--passphrase', '', '--quick-generate-key', address, 'rsa3072', 'sign', '1d']
  await run('gpg', options, { env: { GNUPGHOME: home } })
  return openSigner(address, home)
}
