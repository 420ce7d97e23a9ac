// SPDX-License-Identifier: Apache-2.0
/**
 * The table of the kinds of activation. To add a kind, write its class and the functions that find
 * its wiring, and add an entry; all other code uses the properties of the wiring.
 */
import type { ActivationKind, Wiring } from '../subject/unit-state.ts'
import type { ActivationEntry, ActivationParts, KindOfActivation } from './activation-kind.ts'
import { DropInActivation } from './drop-in-activation.ts'
import { EnvActivation } from './env-activation.ts'
import { FileActivation } from './file-activation.ts'
import type { WirableUnit } from './unit-definition.ts'
import { findDropInWiring, findEnvWiring, findFileWiring, namesConfigFile, usesConfigVariable } from './wiring-kinds.ts'

/** In the order in which `auto` tries them; a drop-in only where it is asked for. */
const ACTIVATIONS: Readonly<Record<ActivationKind, ActivationEntry>> = {
  env: { suits: usesConfigVariable, findWiring: findEnvWiring, open: (parts) => new EnvActivation(parts) },
  file: { suits: namesConfigFile, findWiring: findFileWiring, open: (parts) => new FileActivation(parts) },
  'drop-in': { suits: () => false, findWiring: findDropInWiring, open: (parts) => new DropInActivation(parts) },
}

export const ACTIVATION_KINDS = Object.keys(ACTIVATIONS) as readonly ActivationKind[]

export type ActivationChoice = 'auto' | ActivationKind

export function openActivations(parts: ActivationParts): Readonly<Record<ActivationKind, KindOfActivation>> {
  const opened = ACTIVATION_KINDS.map((kind) => [kind, ACTIVATIONS[kind].open(parts)] as const)
  return Object.fromEntries(opened) as Record<ActivationKind, KindOfActivation>
}

export function findWiringOf(unit: WirableUnit, choice: ActivationChoice): Wiring {
  const chosen = choice === 'auto' ? Object.values(ACTIVATIONS).find(({ suits }) => suits(unit)) : ACTIVATIONS[choice]
  // A unit without --config suits no kind; `file` reports that.
  return (chosen ?? ACTIVATIONS.file).findWiring(unit)
}
