/** What a kubelet process was started with, from its `--config`. Pure. */
import { findFile, layoutOf } from '../checkpoint/layout.ts'
import type { KubeletProcess } from '../decision/unit-state.ts'

/** @param configPath undefined: the process has no `--config` */
export function describeProcess(dynamicConfigDir: string, pid: number, configPath: string | undefined): KubeletProcess {
  const file = configPath === undefined ? undefined : findFile(layoutOf(dynamicConfigDir), configPath)
  if (file === undefined) return { kind: 'other', pid, configPath }
  const { kubeletConfigKey: key, ...version } = file
  return { kind: 'checkpoint', pid, key, ...version }
}
