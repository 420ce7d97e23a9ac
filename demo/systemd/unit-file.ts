// SPDX-License-Identifier: Apache-2.0
/**
 * The unit of a simulated kubelet, in the two forms that real units have, and the output of
 * `systemctl show` for it.
 */
import { readFileSync } from 'node:fs'
import { expandArguments } from '../../src/systemd/command-line.ts'
import { parseEnvironmentFile } from '../../src/systemd/environment-file.ts'
import { UNIT_PROPERTIES } from '../../src/systemd/unit-properties.ts'
import { SHOWN_STATE, type UnitMachine } from './unit-machine.ts'

export interface SimulatedUnit {
  readonly name: string
  /** The program and the unexpanded words of ExecStart. The program need not exist. */
  readonly path: string
  readonly words: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly environmentFiles: readonly string[]
  readonly dropIns: readonly string[]
}

/** The arguments of the process: files win over `Environment=`; a missing file sets nothing. */
export function commandArguments({ words, environment, environmentFiles }: SimulatedUnit): string[] {
  const fromFiles = environmentFiles.flatMap((path) => {
    try {
      return [...parseEnvironmentFile(readFileSync(path, 'utf8'))]
    } catch {
      return []
    }
  })
  return expandArguments(words.slice(1), new Map([...Object.entries(environment), ...fromFiles])).map(({ text }) => text)
}

/** As installed by kubeadm, with the agent's drop-in after its own. */
export function kubeadmUnit(paths: { readonly localConfig: string; readonly envFile: string; readonly flagsFile?: string }): SimulatedUnit {
  const directory = '/etc/systemd/system/kubelet.service.d'
  return {
    name: 'kubelet.service',
    path: '/usr/bin/kubelet',
    words: ['/usr/bin/kubelet', '$KUBELET_KUBECONFIG_ARGS', '$KUBELET_CONFIG_ARGS', '$KUBELET_KUBEADM_ARGS', '$KUBELET_EXTRA_ARGS'],
    environment: {
      KUBELET_KUBECONFIG_ARGS: '--kubeconfig=/etc/kubernetes/kubelet.conf',
      KUBELET_CONFIG_ARGS: `--config=${paths.localConfig}`,
    },
    environmentFiles: [...(paths.flagsFile === undefined ? [] : [paths.flagsFile]), paths.envFile],
    dropIns: [`${directory}/10-kubeadm.conf`, `${directory}/90-kubelet-cfg-agent.conf`],
  }
}

/** As in images of some cloud providers. */
export function spelledOutUnit(paths: { readonly localConfig: string }): SimulatedUnit {
  const words = ['/usr/bin/kubelet', '--config', paths.localConfig, '$KUBELET_ARGS']
  return { name: 'kubelet.service', path: '/usr/bin/kubelet', words, environment: {}, environmentFiles: [], dropIns: [] }
}

/** Quoted like the real output. */
export function showUnit(unit: SimulatedUnit, machine: UnitMachine, mainPid: number): string {
  const { activeState, subState } = SHOWN_STATE[machine.state]
  const assignments = Object.entries(unit.environment).map(([name, value]) => `${name}=${value}`)
  const lines: Readonly<Record<(typeof UNIT_PROPERTIES)[number], readonly (string | number)[]>> = {
    Id: [unit.name],
    LoadState: ['loaded'],
    ActiveState: [activeState],
    SubState: [subState],
    Result: [machine.result],
    Job: [''],
    MainPID: [mainPid],
    InvocationID: [machine.invocationId],
    NRestarts: [machine.nRestarts],
    ExecMainStartTimestampMonotonic: [machine.startedAtUs],
    ExecMainCode: [machine.wasKilled ? 2 : mainPid > 0 ? 0 : 1],
    ExecMainStatus: [machine.wasKilled ? 9 : 0],
    ExecMainExitTimestampMonotonic: [machine.downTimes.mainExitUs],
    InactiveExitTimestampMonotonic: [machine.startedAtUs],
    ActiveEnterTimestampMonotonic: [machine.startedAtUs],
    ActiveExitTimestampMonotonic: [machine.downTimes.activeExitUs],
    InactiveEnterTimestampMonotonic: [machine.downTimes.inactiveEnterUs],
    UnitFileState: ['enabled'],
    Requires: ['system.slice sysinit.target'],
    BindsTo: [''],
    Restart: [machine.restartsOn],
    RestartUSec: [`${machine.restartUs / 1000}ms`],
    RestartUSecNext: [`${machine.restartUs / 1000}ms`],
    StateChangeTimestampMonotonic: [machine.restartWait?.sinceUs ?? machine.startedAtUs],
    TimeoutStartUSec: ['1min 30s'],
    ExecStartPre: [],
    ExecStart: [
      `{ path=${unit.path} ; argv[]=${unit.words.join(' ')} ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=${mainPid} ; code=(null) ; status=0/0 }`,
    ],
    Environment: [assignments.map((text) => (/[\s"'\\`$]/.test(text) ? `"${text.replace(/["\\`$]/g, '\\$&')}"` : text)).join(' ')],
    EnvironmentFiles: unit.environmentFiles.map((path) => `${path} (ignore_errors=yes)`),
    DropInPaths: [unit.dropIns.join(' ')],
    NeedDaemonReload: ['no'],
    StartLimitIntervalUSec: [machine.startLimit === undefined ? 0 : `${machine.startLimit.intervalUs / 1e6}s`],
  }
  return UNIT_PROPERTIES.flatMap((name) => lines[name].map((value) => `${name}=${value}\n`)).join('')
}
