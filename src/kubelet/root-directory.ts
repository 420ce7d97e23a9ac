// SPDX-License-Identifier: Apache-2.0
/**
 * Kubelet's root directory, without a slash at its end. Pure.
 *
 * @param flag the value of `--root-dir`. undefined: it is not set
 * @returns undefined: a relative path, which begins in a directory that is not known
 */
export function rootDirectory(flag = '/var/lib/kubelet'): string | undefined {
  return flag.startsWith('/') ? flag.replace(/\/+$/, '') : undefined
}
