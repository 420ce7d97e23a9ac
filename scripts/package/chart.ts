// SPDX-License-Identifier: Apache-2.0
/** The Helm chart as `helm package` makes it, but with the same bytes for the same commit. */
import { join } from 'node:path'
import { packDirectory } from './pack-directory.ts'
import type { Project } from './project.ts'

const CHARTS = 'charts'
const LEVEL = 9

/** @returns its path */
export async function packChart(directory: string, { name, version, epoch }: Pick<Project, 'name' | 'version' | 'epoch'>): Promise<string> {
  const archive = join(directory, `${name}-${version}.tgz`)
  await packDirectory(CHARTS, name, archive, { level: LEVEL, epoch })
  return archive
}
