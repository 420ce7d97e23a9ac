// SPDX-License-Identifier: Apache-2.0
/**
 * The state of the agent's own unit, from systemd: whether it is to run, and whether it does. Pure;
 * see `read-agent-service.ts`. UnitFileState: systemctl(1), "is-enabled".
 */
import { summarizeState } from './unit-activity.ts'

export const AGENT_UNIT = 'kubelet-cfg-agent.service'

export type AgentService =
  | {
      readonly kind: 'known'
      /** As in `systemctl is-enabled`: `enabled`, `disabled`, `masked`. */
      readonly enabled: string
      /** `down`: nothing starts it within moments; also while it waits for an automatic restart. */
      readonly phase: 'active' | 'starting' | 'down'
      /** As in `systemctl status`: `inactive (dead)`. */
      readonly summary: string
    }
  /** systemd knows no such unit. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly detail: string }

export const AGENT_SERVICE_PROPERTIES = ['LoadState', 'ActiveState', 'SubState', 'Result', 'UnitFileState']
/** @param output of `systemctl show` with these properties */
export function parseAgentService(output: string): AgentService {
  const values = new Map(output.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  const [loadState, activeState, subState = '', result = '', enabled = ''] = AGENT_SERVICE_PROPERTIES.map((name) => values.get(name))
  if (!loadState || !activeState) return { kind: 'unknown', detail: `systemctl show ${AGENT_UNIT} printed something unexpected` }
  if (loadState === 'not-found') return { kind: 'absent' }
  const summary = summarizeState({ activeState, subState, result })
  return { kind: 'known', enabled: loadState === 'masked' ? 'masked' : enabled, phase: phaseOf(activeState, subState), summary }
}

function phaseOf(activeState: string, subState: string): 'active' | 'starting' | 'down' {
  switch (activeState) {
    case 'active':
    case 'reloading':
    case 'refreshing': // 257
      return 'active'
    case 'activating':
      // systemd 254 and later queue it: see unit-activity.ts.
      return subState.startsWith('auto-restart') ? 'down' : 'starting'
    default:
      return 'down'
  }
}
