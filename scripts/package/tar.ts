// SPDX-License-Identifier: Apache-2.0
/** tar(1) of a directory: the same files give the same bytes, whoever packs them and when. */
import { run } from './tools.ts'

/**
 * @param epoch seconds since 1970: the time of each file
 * @param name what of the directory, and how its paths begin
 */
export async function packTree(directory: string, archive: string, epoch: number, name = '.'): Promise<void> {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u+rwX,go+rX,go-w']
  await run('tar', ['--format=ustar', '--sort=name', `--mtime=@${epoch}`, ...owner, '-C', directory, '-cf', archive, name])
}
