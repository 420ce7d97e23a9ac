/**
 * The table of settings. Flags, environment variables, config file keys, help texts, man pages and
 * defaults are all derived from it. Each group of settings has its own file. `setting-names.ts`
 * derives the names; `resolve-settings.ts` finds the values. Pure: reads neither files nor
 * environment.
 */

import type { Policy } from '../decision/policy.ts'
import { DISK_SETTINGS, type DiskSettings } from './disk-settings.ts'
import { EVIDENCE_SETTINGS, type EvidenceSettings } from './evidence-settings.ts'
import { KUBELET_SETTINGS, type KubeletSettings } from './kubelet-settings.ts'
import { PREFLIGHT_SETTINGS, type PreflightSettings } from './preflight-settings.ts'
import { REPORT_SETTINGS, type ReportSettings } from './report-settings.ts'
import type { SettingTable } from './setting.ts'
import { SOURCE_SETTINGS, type SourceSettings } from './source-settings.ts'
import { TRIAL_SETTINGS, type TrialSettings } from './trial-settings.ts'

/** Every setting with its value as the agent uses it. */
export interface Settings
  extends SourceSettings,
    DiskSettings,
    KubeletSettings,
    PreflightSettings,
    TrialSettings,
    EvidenceSettings,
    ReportSettings {}

export type SettingName = keyof Settings

export const SETTINGS: SettingTable<Settings> = {
  ...SOURCE_SETTINGS,
  ...DISK_SETTINGS,
  ...KUBELET_SETTINGS,
  ...PREFLIGHT_SETTINGS,
  ...TRIAL_SETTINGS,
  ...EVIDENCE_SETTINGS,
  ...REPORT_SETTINGS,
}

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

export function toPolicy(settings: Settings): Policy {
  const { trialUs, startDeadlineUs, toleranceUs, crashLimit, spreadUs, restartsPerHour, whenRefused, keepCheckpoints, evidence } = settings
  return { trialUs, startDeadlineUs, toleranceUs, crashLimit, spreadUs, restartsPerHour, whenRefused, keepCheckpoints, evidence }
}
