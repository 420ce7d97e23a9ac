/**
 * Where the other programs of systemd are. They lie beside systemctl, except on a system that keeps
 * /bin and /usr/bin apart: Debian 11 and older have systemctl and journalctl in /bin, and
 * systemd-run in /usr/bin, unless usrmerge joined them. Pure.
 */
import { posix } from 'node:path'
import { PATH_DIRECTORIES } from '../values/child-environment.ts'

/** Its path; only its name where PATH finds it. */
export function besideSystemctl(systemctl: string, name: string): string {
  const directory = posix.dirname(systemctl)
  return PATH_DIRECTORIES.includes(directory) ? name : posix.join(directory, name)
}
