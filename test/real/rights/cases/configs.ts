// SPDX-License-Identifier: Apache-2.0
/** Of configs.yaml. */
import { FLEET_LABEL, FLEET_NAMESPACE } from '../../fleet.ts'
import type { Asked } from '../ask.ts'
import { type Case, CONFIGS, carrier, configMapPath, edit, editor, fine, janitor, refused as refusedBy } from './case.ts'

const refused = refusedBy.bind(undefined, CONFIGS)
const unlabel = (value: string | null): object => ({ metadata: { labels: { [FLEET_LABEL]: value } } })
const newConfigMap = (namespace: string, metadata: object): Asked => ({
  method: 'POST',
  path: configMapPath(namespace),
  body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} },
})

export function configCases(): Case[] {
  return [
    refused('an edit of a named ConfigMap', carrier, edit('kube-system', 'node-config')),
    refused('its removal', carrier, { method: 'DELETE', path: configMapPath('kube-system', 'node-config') }),
    refused('a named one that is made', carrier, newConfigMap('kube-system', { name: 'kubelet-config' })),
    refused('an edit of a member of the fleet', carrier, edit('kube-system', 'member')),
    refused('its label taken away', carrier, { method: 'PATCH', path: configMapPath('kube-system', 'member'), body: unlabel(null) }),
    refused('one that becomes a member', carrier, { method: 'PATCH', path: configMapPath('kube-system', 'other'), body: unlabel('true') }),
    refused('any in the namespace of configs', carrier, edit(FLEET_NAMESPACE, 'any')),
    refused('one under a name that the server makes up', carrier, newConfigMap(FLEET_NAMESPACE, { generateName: 'some-' })),
    refused('all of the namespace at once', carrier, { method: 'DELETE', path: configMapPath(FLEET_NAMESPACE) }),
    fine('an edit by an editor', editor, edit('kube-system', 'node-config')),
    fine('a member made by an editor', editor, newConfigMap(FLEET_NAMESPACE, { name: 'new', labels: { [FLEET_LABEL]: 'true' } })),
    fine('its removal by an editor', editor, { method: 'DELETE', path: configMapPath(FLEET_NAMESPACE, 'any') }),
    fine('the end of a namespace, by its controller', janitor, { method: 'DELETE', path: configMapPath(FLEET_NAMESPACE) }),
    fine('any other ConfigMap', carrier, edit('kube-system', 'other')),
    fine('the one that every namespace has', carrier, edit(FLEET_NAMESPACE, 'kube-root-ca.crt')),
  ]
}
