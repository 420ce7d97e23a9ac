// SPDX-License-Identifier: Apache-2.0
/**
 * The loss without one right, for each right of a file of deploy/rbac: a function by name, and how
 * its loss shows. A right without an entry is one that nothing needs, and fails the test. Agents
 * with all of the file but one right each run side by side; each has an identity, a Node and a
 * ConfigMap of its own.
 */
import { strict as assert } from 'node:assert'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import type { Step } from '../lab/runner.ts'
import { type Machine, type MachineOptions, withMachine } from '../machine.ts'
import { asList, forAlone, listRights, type Manifest, nameOf, readManifests, type Subject, without } from './manifests.ts'
import { createAccount, useAccount } from './tokens.ts'

export interface Loss {
  readonly lost: string
  readonly settings?: MachineOptions['settings']
  readonly shows: (machine: Machine, admin: Administrator) => Promise<void>
}

export interface Stage {
  readonly plane: ControlPlane
  readonly program: string
  readonly settings: MachineOptions['settings']
  /** Makes an identity for the agent of this Node. */
  identify(name: string): Promise<{ readonly subject: Subject; readonly kubeconfig: string }>
  /** Before the agent starts: what it is to find. */
  prepare(machine: Machine, admin: Administrator): Promise<void>
}

export type Identities = Pick<Stage, 'plane' | 'program' | 'identify'>

/** Each agent has its node's own identity. */
export function asNode(plane: ControlPlane, program: string): Identities {
  return {
    plane,
    program,
    async identify(name) {
      const subject = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `system:node:${name}` } as const
      return { subject, kubeconfig: await plane.nodeKubeconfig(name) }
    },
  }
}

/** Each agent has a ServiceAccount. */
export function asAccount(plane: ControlPlane, program: string): Identities {
  return {
    plane,
    program,
    async identify(name) {
      await createAccount(plane, name)
      return useAccount(plane, name)
    },
  }
}

/** As `forAlone` is told; each machine has one. */
export const configOf = (machine: string): string => `${machine}-config`

/** The value in the config of a machine, as long as nobody edits it. */
export const MAX_PODS = 51

/** Of a ConfigMap that is read by name, whoever reads it. */
export const NAMED_CONFIG_MAP: Readonly<Record<string, Loss>> = {
  'configmaps get': {
    lost: 'the config cannot be read at all',
    async shows(machine) {
      await machine.agent.untilSays(/^failed to download .*forbidden/)
      assert.equal(machine.restarts(), 0)
    },
  },
  'configmaps watch': {
    lost: 'an edit is not heard at once',
    async shows(machine) {
      await machine.untilRuns(MAX_PODS)
      await machine.agent.untilSays(/^watching .*configmaps.* is forbidden: reading it every minute instead$/)
    },
  },
}

/** @param besides files that the agents have whole, as far as they need them */
export async function playLosses(
  step: Step,
  stage: Stage,
  file: string,
  losses: Readonly<Record<string, Loss>>,
  besides: readonly string[] = [],
): Promise<void> {
  const manifests = readManifests(file)
  const rights = listRights(manifests)
  assert.deepEqual(rights.map(nameOf).sort(), Object.keys(losses).sort(), `${file}: these rights, and what is lost without each`)
  const whole = besides.flatMap((other) => readManifests(other))
  await Promise.all(
    rights.map(async (right, index) => {
      const loss = losses[nameOf(right)]
      assert(loss !== undefined, 'nothing is lost')
      const name = `${file.replaceAll(/[^a-z]/g, '').slice(-12)}-${index}`
      const grant = (subject: Subject) => forAlone([...whole, ...without(manifests, right)], subject, [configOf(name)])
      await step(`${file} without ${nameOf(right)}: ${loss.lost}`, () => playOne(stage, name, grant, loss))
    }),
  )
}

/** @param grant what the agent of this machine holds */
export async function playOne(
  stage: Stage,
  name: string,
  grant: (subject: Subject) => readonly Manifest[],
  { settings, shows }: Loss,
): Promise<void> {
  const { plane, program } = stage
  const { subject, kubeconfig } = await stage.identify(name)
  await plane.kubectl(['apply', '-f', '-'], { input: asList(grant(subject)) })
  const options = { name, kubeconfig, settings: { nodeName: name, ...stage.settings, ...settings } }
  await withMachine(plane, program, options, async (machine, admin) => {
    await stage.prepare(machine, admin)
    machine.agent.start()
    await shows(machine, admin)
  })
}
