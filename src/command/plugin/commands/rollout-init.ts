// SPDX-License-Identifier: Apache-2.0
/** `rollout init`: makes the record, the rights and the policy of a config's rollout. */

import { ROLLOUT_ANNOTATION } from '../../../decision/channels.ts'
import { parsePlan, ROLLOUT_PLAN_ANNOTATION } from '../../../rollout/plan.ts'
import { choiceKind } from '../../../settings/setting-kinds.ts'
import { type CommandLine, EXIT, type ExitCode, Failure, Misuse } from '../../command.ts'
import { demandConsent, YES } from '../../consent.ts'
import { objectOf } from '../../failure.ts'
import { plainText } from '../../terminal.ts'
import type { PluginCommand, PluginContext } from '../command.ts'
import { annotate, checkConfigName, createObject, getConfig } from '../config-maps.ts'
import { CONFIG_NAME, DRY_RUN, textKind } from '../options.ts'
import { describeGap, nameParts, nameSome } from '../reach.ts'
import { findDifferences, listRolloutObjects, type RolloutObject } from '../rollout-objects.ts'
import { recordOf } from '../rollout-state.ts'
import { countNodes, listKnownUsers } from '../users.ts'

export const rolloutInitCommand: PluginCommand = {
  name: 'rollout init',
  group: 'Roll out',
  summary: 'set up the rollout of a config: record, rights, policy',
  description:
    'Makes the record of the rollout, the Role and RoleBinding for the agents, the admission policy with its binding, and then ' +
    'names the record on the config. Existing objects are left as they are; if one does not fit this rollout, the config is ' +
    'not changed. When the config names the record, its edits go to the nodes in stages.',
  arguments: [CONFIG_NAME],
  options: [
    { name: 'record', kind: textKind('<name>'), initial: '', help: 'name of the record, in place of NAME-rollout' },
    { name: 'plan', kind: textKind('<plan>'), initial: '', help: 'the plan, as in "waves: [5%, 100%], witnesses: 3"' },
    {
      name: 'agents',
      kind: choiceKind('nodes', 'serviceaccount'),
      initial: 'nodes',
      help: "the agents' identity: that of their nodes, or the ServiceAccount kubelet-cfg-agent in kube-system",
    },
    { ...DRY_RUN, help: 'print the objects as YAML, and change nothing' },
    YES,
  ],
  examples: [
    ['rollout init node-config', 'set a rollout up'],
    ['rollout init node-config --dry-run', 'look at the objects, or keep them in git'],
  ],
  execute: init,
}

async function init(context: PluginContext, line: CommandLine): Promise<ExitCode> {
  const { terminal, namespace } = context
  const { options, args } = line
  const [name = ''] = args
  const config = await getConfig(context, name)
  const record = options.record || recordOf(config) || `${name}-rollout`
  checkConfigName(record)
  if (record === name) throw new Misuse('the record cannot be the config itself: give --record another name')
  const plan = options.plan || config.annotations[ROLLOUT_PLAN_ANNOTATION]
  const parsed = parsePlan(plan)
  if (!parsed.ok) throw new Misuse(parsed.problem)
  await checkUses(context, name)
  const agents = options.agents === 'serviceaccount' ? 'serviceaccount' : 'nodes'
  const objects = listRolloutObjects({ namespace, config: name, record, agents })
  const annotations = { [ROLLOUT_ANNOTATION]: record, ...(plan !== undefined && { [ROLLOUT_PLAN_ANNOTATION]: plan }) }
  if (options['dry-run'] === 'true') {
    for (const { body } of objects) terminal.out(`---\n${await context.formatYaml(body)}`)
    terminal.out(`# And on ConfigMap ${namespace}/${name}:\n`)
    for (const [key, value] of Object.entries(annotations)) terminal.out(`#   ${key}: ${JSON.stringify(value)}\n`)
    return EXIT.fine
  }
  await demandConsent(context, line, `Make the record ${namespace}/${record} and its rights, and stage edits of ${name} from now on?`)
  let differing = 0
  const newcomer = recordOf(config) === record ? undefined : config.uid
  for (const object of objects) if ((await make(context, object, newcomer)) === 'differs') differing++
  if (differing > 0)
    throw new Failure(
      `ConfigMap ${namespace}/${name} was not changed: give --record and --agents as they were, or correct the objects named above ` +
        'or delete them, and run the command again',
    )
  await annotate(context, config, annotations)
  terminal.out(`Edits of ${namespace}/${name} go in stages now. Label at least one Node that may fail first:\n`)
  terminal.out('  kubectl label node NODE kubelet-cfg-agent.io/canary=true\n')
  return EXIT.fine
}

/** Nodes refuse the rollout of a base, of a layer, and of a config with layers over it. */
async function checkUses(context: PluginContext, name: string): Promise<void> {
  const config = { namespace: context.namespace, name }
  const own = `${config.namespace}/${name}`
  const { parts, layered, layers, gap } = await listKnownUsers(context, name)
  if (parts.length > 0)
    throw new Failure(
      `${own} is the base of ${nameParts(parts)}: nodes with a part refuse it where a base has a rollout; use a copy of ${own} as the ` +
        'base, or make the rollout of the part',
    )
  if (layered.length > 0)
    throw new Failure(`${own} is a layer on ${countNodes(layered.length)}: a layer cannot have a rollout, and its edits are only spread`)
  if (layers.length > 0)
    throw new Failure(
      `layers match nodes that use ${own} (${nameSome(layers)}): nodes with layers refuse a config that has a rollout; remove the layers first`,
    )
  const unknown = describeGap(config, gap)
  if (unknown !== undefined) context.terminal.err(`Note: ${plainText(unknown)}\n`)
}

/** @param newcomer see findDifferences */
async function make(context: PluginContext, object: RolloutObject, newcomer: string | undefined): Promise<'serves' | 'differs'> {
  const { terminal } = context
  const { path, resource, namespace, body } = object
  const what = `${body.kind} ${body.metadata.name}`
  switch (await createObject(context, path, body, { resource, namespace })) {
    case 'created':
      terminal.out(`Made ${what}.\n`)
      return 'serves'
    case 'exists':
      return checkExisting(context, what, object, newcomer)
    case 'not-served':
      terminal.err(
        `Note: this API server has no ${body.kind}: it needs Kubernetes 1.30. Without it, a node can write whatever it wants into the record.\n`,
      )
      return 'serves'
  }
}

/** All rollouts share the policy, and its owner may have adapted it. */
async function checkExisting(
  context: PluginContext,
  what: string,
  object: RolloutObject,
  newcomer: string | undefined,
): Promise<'serves' | 'differs'> {
  const { api, terminal } = context
  const { path, resource, namespace, body } = object
  const { name } = body.metadata
  const answer = await api.request({ method: 'GET', path: `${path}/${name}` })
  const differences = findDifferences(body, objectOf({ verb: 'get', resource, name, namespace }, answer), newcomer)
  if (differences.length > 0 && body.kind !== 'ValidatingAdmissionPolicy') {
    const where = namespace === undefined ? '' : ` in the namespace ${namespace}`
    terminal.err(`${plainText(`${what}${where} differs: ${differences.join('; ')}`)}\n`)
    return 'differs'
  }
  if (differences.length > 0)
    terminal.err(
      `Note: ${what} is not the one of this version: apply deploy/admission/rollout.yaml of this version, unless you changed it yourself.\n`,
    )
  terminal.out(`${what} exists already, and is left as it is.\n`)
  return 'serves'
}
