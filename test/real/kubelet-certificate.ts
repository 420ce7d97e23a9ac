// SPDX-License-Identifier: Apache-2.0
/**
 * The certificate that kubelet serves with, put where it looks for one. Without it, each kubelet
 * that is only asked about a config makes a key of RSA first, which takes more than all else.
 */
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createAuthority } from './lab/certificates.ts'
import { makeScratch } from './lab/processes.ts'

let made: ReturnType<typeof createAuthority> | undefined

/** @param directory its `--cert-dir`, which is made */
export async function putCertificate(directory: string): Promise<void> {
  made ??= createAuthority(makeScratch())
  const { certificateFile, keyFile } = await made
  await mkdir(directory)
  await copyFile(certificateFile, join(directory, 'kubelet.crt'))
  await copyFile(keyFile, join(directory, 'kubelet.key'))
}
