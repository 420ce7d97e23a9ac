// SPDX-License-Identifier: Apache-2.0
/**
 * The whole environment of the programs that the agent runs: they get nothing of its own. Pure.
 */
import { posix } from 'node:path'

/** The directories where programs are looked for. */
const PATH_DIRECTORIES: readonly string[] = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']

export const CHILD_ENVIRONMENT = { PATH: PATH_DIRECTORIES.join(':'), LANG: 'C.UTF-8' } as const

/** The environment of programs of systemd: neither colors nor a pager. */
export const SYSTEMD_ENVIRONMENT = { ...CHILD_ENVIRONMENT, SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' } as const

/**
 * Where the other programs of systemd are. They lie beside systemctl, except on a system that keeps
 * /bin and /usr/bin apart: Debian 11 and older have systemctl and journalctl in /bin, and
 * systemd-run in /usr/bin, unless usrmerge joined them. Its path; only its name where PATH finds
 * it.
 */
export function besideSystemctl(systemctl: string, name: string): string {
  const directory = posix.dirname(systemctl)
  return PATH_DIRECTORIES.includes(directory) ? name : posix.join(directory, name)
}
