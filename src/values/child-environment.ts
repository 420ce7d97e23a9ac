/**
 * The whole environment of the programs that the agent runs: they get nothing of its own. Pure.
 */

/** Where they are looked for. */
export const PATH_DIRECTORIES: readonly string[] = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']

export const CHILD_ENVIRONMENT = { PATH: PATH_DIRECTORIES.join(':'), LANG: 'C.UTF-8' } as const

/** Of programs of systemd: neither colors nor a pager. */
export const SYSTEMD_ENVIRONMENT = { ...CHILD_ENVIRONMENT, SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' } as const
