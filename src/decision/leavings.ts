/**
 * Whether kubelet died of what another config left behind. Its CPU and memory managers keep their
 * state in files below --root-dir. A config with another policy, or with other reservations, does
 * not fit the file that the config before has written: kubelet exits until somebody deletes the
 * file (kubernetes issue 95041). Rules: `Start`, pkg/kubelet/cm/container_manager_linux.go, and
 * `NewCheckpointState`, pkg/kubelet/cm/cpumanager/state/state_checkpoint.go. Pure.
 */
import type { Verdict } from './verdict.ts'

const STATE_FILE = /\bstart (?:cpu|memory) manager error: |\bcould not restore state from checkpoint: |\bplease drain (?:this )?node and /i

export function diedOfLeavings({ detail }: Pick<Verdict, 'detail'>): boolean {
  return STATE_FILE.test(detail)
}
