// SPDX-License-Identifier: Apache-2.0
/**
 * nodeadm, which makes a node of an instance of Amazon EKS, in the newest version that Go's module
 * proxy has. Built once into the lab's cache. Run by itself it prepares the cache:
 * `node --import tsx test/real/lab/build-nodeadm.ts`.
 */
import { join } from 'node:path'
import { ensureGoCommands, type Report, readGoModule } from './build-go-commands.ts'

const MODULE = join(import.meta.dirname, 'nodeadm')

/** Builds it if need be. */
export async function ensureNodeadm(report: Report = console.log): Promise<string> {
  const module = readGoModule(MODULE, 'github.com/awslabs/amazon-eks-ami/nodeadm')
  return join(await ensureGoCommands({ name: 'nodeadm', ...module }, report), 'nodeadm')
}

if (import.meta.filename === process.argv[1]) console.log(await ensureNodeadm())
