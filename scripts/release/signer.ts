/**
 * Signs with a key of GnuPG, by gpg(1) and rpmsign(8). The key stays with gpg-agent: nothing here
 * sees it, and a passphrase is asked for by pinentry.
 */
import { findTool, run } from '../package/tools.ts'

export interface Signer {
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
 * Throws if there is no secret key of this id.
 *
 * @param home GnuPG's directory
 */
export async function openSigner(key: string, home: string | undefined = process.env.GNUPGHOME): Promise<Signer> {
  // It becomes part of a macro of rpm's, and an argument.
  if (!/^(0x)?[0-9A-Fa-f]{16,64}$|^[\w.+-]+@[\w.-]+$/.test(key)) {
    throw new Error(`--sign-with ${key}: is not a fingerprint, a long key id or an email address`)
  }
  const env = home === undefined ? process.env : { ...process.env, GNUPGHOME: home }
  const sign = (file: string, args: readonly string[]) => run(file, args, { env })
  await sign('gpg', ['--batch', '--list-secret-keys', key]).catch((cause: unknown) => {
    throw new Error(
      `no secret key ${key} in ${home ?? '~/.gnupg'}: "gpg --list-secret-keys" lists those that are there; GNUPGHOME names another directory`,
      {
        cause,
      },
    )
  })
  const gpg = (...args: string[]) => sign('gpg', ['--batch', '--yes', '--local-user', key, '--digest-algo', 'SHA256', ...args])
  // rpmsign starts it without looking at the PATH.
  const program = (await findTool('gpg')) ?? '/usr/bin/gpg'
  const macros = Object.entries({ _gpg_name: key, _gpg_digest_algo: 'sha256', __gpg: program }).flatMap((macro) => [
    '--define',
    macro.join(' '),
  ])
  return {
    detach: async (file, signature) => void (await gpg('--armor', '--output', signature, '--detach-sign', file)),
    clear: async (file, signed) => void (await gpg('--output', signed, '--clearsign', file)),
    rpm: async (file) => void (await sign('rpmsign', ['--addsign', ...macros, file])),
    publicKey: async (file) =>
      void (await sign('gpg', ['--batch', '--yes', '--armor', '--export-options', 'export-minimal', '--output', file, '--export', key])),
  }
}
