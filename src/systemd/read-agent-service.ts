// SPDX-License-Identifier: Apache-2.0
/** Asks systemd about the agent's own unit, with one `systemctl show`, for `check`. */
import { describeFailure, runCommand, succeeded } from '../process/run-command.ts'
import { SYSTEMD_ENVIRONMENT } from '../values/child-environment.ts'
import { AGENT_SERVICE_PROPERTIES, AGENT_UNIT, type AgentService, parseAgentService } from './agent-service.ts'

/** @param systemctl path of the command */
export async function readAgentService(systemctl: string): Promise<AgentService> {
  const parameters = ['show', '-p', AGENT_SERVICE_PROPERTIES.join(','), AGENT_UNIT]
  const result = await runCommand(systemctl, parameters, { timeoutMs: 10_000, maxOutputBytes: 1 << 16, env: SYSTEMD_ENVIRONMENT })
  if (!succeeded(result)) return { kind: 'unknown', detail: `systemctl show: ${describeFailure(result)}` }
  return parseAgentService(result.stdout)
}
