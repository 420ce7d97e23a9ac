// SPDX-License-Identifier: Apache-2.0
/**
 * Plans in which zones, windows and the other words look like settings that the policy of
 * deploy/admission/rollout.yaml reads. It has to read them as agents do, or to refuse everything.
 */

const NIGHT = 'windows: [Mon-Fri 22:00-05:00, Sat-Sun 00:00-24:00]'

export const READABLE: readonly string[] = [
  'zones: [eu-1a, eu-1b,eu-1c ], witnesses: 2, maxSilent: 0',
  'zones: [witnesses, retry-9, maxSilent.0, waves]\nwitnesses: 2\nmaxSilent: 1',
  'zoneLabel: example.com/witnesses, witnesses: 2',
  'zoneLabel: maxVetoes\nmaxVetoes: 2\nzones: [a]',
  `${NIGHT}, timeZone: Etc/GMT+5, witnesses: 3, maxVetoes: 2`,
  `rest: 30m, witnesses: 2\n${NIGHT}\ntimeZone: Europe/Berlin`,
  `witnesses: 2, now: 0123456789ab, ${NIGHT}, rest: 1h30m`,
  'timeZone: America/Argentina/Buenos_Aires\nmaxSilent: 1, rest: 0s',
  'rest: 30m',
]

export const GARBLED: readonly string[] = [
  'zones: [a, witnesses: 1]',
  'zones: [a], zones: [witnesses: 1]',
  'zones: [a\nwitnesses: 1]',
  'zones: []',
  'zones: a',
  'zones: [a;witnesses]',
  'zoneLabel: witnesses: 1',
  'zoneLabel: a b',
  'windows: [witnesses: 1]',
  'windows: [Mon 22:00-05:00 witnesses: 1]',
  'windows: [Mon 22:00-05:00]; witnesses: 1',
  'windows: [Mon-Fri 22-05]',
  'windows: Mon 22:00-05:00',
  'timeZone: Europe/Berlin witnesses: 1',
  'timeZone: +02:00',
  'rest: witnesses: 1',
  'rest: 30m witnesses: 1',
  'now: witnesses: 1',
  'now: yes',
  'xwitnesses: 1',
  'Witnesses: 1, zones: [a]',
]
