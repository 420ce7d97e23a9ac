// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the programs that the lab of the real tests has built and stored outside the checkout.
 * Builds nothing.
 */
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** @returns a path; undefined: `npm run test:real` has not run on this machine */
export function findBuilt(name: 'kubelet' | 'kube-apiserver' | 'etcd'): string | undefined {
  return listBuilt(name)[0]
}

/** The paths of all of them: of a kubelet, one a version. */
export function listBuilt(name: 'kubelet' | 'kube-apiserver' | 'etcd'): string[] {
  const { KUBEBUILDER_ASSETS: assets, KCA_LAB_CACHE: own, XDG_CACHE_HOME: user } = process.env
  const cache = own || join(user || join(homedir(), '.cache'), 'kubelet-cfg-agent')
  const built = existsSync(cache) ? readdirSync(cache).map((directory) => join(cache, directory)) : []
  return [...(assets ? [assets] : []), ...built].map((directory) => join(directory, name)).filter((path) => existsSync(path))
}
