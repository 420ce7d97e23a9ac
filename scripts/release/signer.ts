// SPDX-License-Identifier: Apache-2.0
/**
 * Signs with a key of GnuPG, by gpg(1) and rpmsign(8). The key stays with gpg-agent: nothing here
 * sees it, and a passphrase is asked for by pinentry.
 */
import { findTool, run } from '../package/tools.ts'

export interface Signer {
  /** Of the primary key, in full. */
  readonly fingerprint: string
  /** Writes a detached signature, in ASCII armour. */
  detach(file: string, signature: string): Promise<void>
  /** Writes the text with its signature around it, as InRelease is. */
  clear(file: string, signed: string): Promise<void>
  /** Puts a signature into the header of an rpm. */
  rpm(file: string): Promise<void>
  /** Writes the public key, in ASCII armour. */
  publicKey(file: string): Promise<void>
}

/**
 * Throws unless there is one secret key of this id.
 *
 * @param home GnuPG's directory
 */
export async function openSigner(key: string, home: string | undefined = process.env.GNUPGHOME): Promise<Signer> {
  if (!/^(0x)?[0-9A-Fa-f]{16,64}$|^\w[\w.+-]*@[\w.-]+$/.test(key)) {
    throw new Error(`--sign-with ${key}: is not a fingerprint, a long key id or an email address`)
  }
  const env = home === undefined ? process.env : { ...process.env, GNUPGHOME: home }
  const sign = (file: string, args: readonly string[]) => run(file, args, { env })
  const fingerprint = await findFingerprint(key, home ?? '~/.gnupg', (args) => sign('gpg', args))
  const gpg = (...args: string[]) => sign('gpg', ['--batch', '--yes', '--local-user', fingerprint, '--digest-algo', 'SHA256', ...args])
  // rpmsign starts it without looking at the PATH.
  const program = (await findTool('gpg')) ?? '/usr/bin/gpg'
  const macros = Object.entries({ _gpg_name: fingerprint, _gpg_digest_algo: 'sha256', __gpg: program }).flatMap((macro) => [
    '--define',
    macro.join(' '),
  ])
  return {
    fingerprint,
    detach: async (file, signature) => void (await gpg('--armor', '--output', signature, '--detach-sign', file)),
    clear: async (file, signed) => void (await gpg('--output', signed, '--clearsign', file)),
    rpm: async (file) => void (await sign('rpmsign', ['--addsign', ...macros, file])),
    publicKey: async (file) =>
      void (await sign('gpg', [
        '--batch',
        '--yes',
        '--armor',
        '--export-options',
        'export-minimal',
        '--output',
        file,
        '--export',
        fingerprint,
      ])),
  }
}

/**
 * GnuPG finds keys by parts of an address, and a release must neither be signed by another key nor
 * publish one.
 */
async function findFingerprint(key: string, home: string, gpg: (args: readonly string[]) => Promise<string>): Promise<string> {
  const exact = key.includes('@') ? `<${key}>` : key
  const hint = `"gpg --list-secret-keys" lists those that are there; GNUPGHOME names another directory`
  const listed = await gpg(['--batch', '--with-colons', '--list-secret-keys', '--', exact]).catch((cause: unknown) => {
    throw new Error(`no secret key ${key} in ${home}: ${hint}`, { cause })
  })
  const found = readPrimaryFingerprints(listed)
  const [fingerprint] = found
  if (fingerprint === undefined) throw new Error(`no secret key ${key} in ${home}: ${hint}`)
  if (found.length > 1)
    throw new Error(`${found.length} secret keys of ${key} in ${home}: give the fingerprint of one, ${found.join(' or ')}`)
  return fingerprint
}

/** The `fpr` line after each `sec` line, as doc/DETAILS of GnuPG has them. */
export function readPrimaryFingerprints(colons: string): readonly string[] {
  const lines = colons.split('\n').map((line) => line.split(':'))
  return lines.flatMap(([type], index) => {
    if (type !== 'sec') return []
    const fingerprint = lines.slice(index + 1).find(([each]) => each === 'fpr')?.[9]
    return fingerprint === undefined ? [] : [fingerprint]
  })
}
