/**
 * Where the other programs of systemd are. They lie beside systemctl, except on a system that keeps
 * /bin and /usr/bin apart: Debian 11 and older have systemctl and journalctl in /bin, and
 * systemd-run in /usr/bin, unless usrmerge joined them. Pure.
 */
import { posix } from 'node:path'

/** What the agent gives as PATH to the programs that it runs. */
const DIRECTORIES = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Its path; only its name where PATH finds it. */
export function besideSystemctl(systemctl: string, name: string): string {
  const directory = posix.dirname(systemctl)
  return DIRECTORIES.includes(directory) ? name : posix.join(directory, name)
}
