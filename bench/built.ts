/** What the real lab has built and keeps outside the checkout. Builds nothing. */
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** @returns a path; undefined: `npm run test:real` has not been run here. */
export function findBuilt(name: 'kubelet' | 'kube-apiserver' | 'etcd'): string | undefined {
  const { KUBEBUILDER_ASSETS: assets, KCA_LAB_CACHE: own, XDG_CACHE_HOME: user } = process.env
  const cache = own || join(user || join(homedir(), '.cache'), 'kubelet-cfg-agent')
  const built = existsSync(cache) ? readdirSync(cache).map((directory) => join(cache, directory)) : []
  return [...(assets ? [assets] : []), ...built].map((directory) => join(directory, name)).find((path) => existsSync(path))
}
