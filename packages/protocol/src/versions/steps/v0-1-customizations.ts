import type { Action } from '../../channel.ts'
import { byDifference } from '../difference.ts'
import type { Member } from '../difference.ts'
import { Refusal } from '../lens.ts'
import type { LiftContext } from '../lens.ts'
import { at, each, listOf, put, shapeOf, textOf } from '../shape.ts'
import type { OldAction, Shape } from '../shape.ts'
import { one } from '../step.ts'
import type { Row } from '../step.ts'

/**
 * Returns the list of customizations at 0.1. It has only the top level of the tree, and a client finds an item by its
 * URI. If two items have the same URI, the URI of the later one ends with `#` and its id.
 */
function flatList(list: readonly unknown[]): readonly Shape[] {
  const items = list.map(shapeOf)
  const uris = shownUris(items)
  return items.map((item, i) => {
    const { kind, message } = shapeOf(item['load'])
    return put(
      { customization: put(refOf(item), { uri: uris[i] }), enabled: item['enabled'] ?? true },
      { clientId: item['clientId'], status: kind, statusMessage: message },
    )
  })
}

function shownUris(items: readonly Shape[]): readonly string[] {
  const seen = new Set<string>()
  return items.map(({ uri, id }) => {
    const shown = seen.has(String(uri)) ? `${String(uri)}#${String(id)}` : String(uri)
    seen.add(shown)
    return shown
  })
}

/** Translates a customization to a reference, the form that 0.1 has for it. */
function refOf({ uri, name, icons, nonce, _meta }: Shape): Shape {
  const description = textOf(shapeOf(_meta), 'description')
  return put({ uri, displayName: name }, { description, icons, nonce })
}

export function flatDown(session: Shape): Shape {
  return 'customizations' in session
    ? { ...session, customizations: flatList(listOf(session, 'customizations')) }
    : session
}

/** Translates the customizations of an agent or an active client to references. */
export function refsDown(holder: Shape): Shape {
  return at(holder, 'customizations', each(refOf))
}

/**
 * Translates the references to a client's own customizations to plugins. The id of a plugin is made of the id of the
 * client and the URI.
 */
export function pluginsUp(activeClient: Shape): Shape {
  const clientId = String(activeClient['clientId'])
  return at(
    activeClient,
    'customizations',
    each(({ uri, displayName, description, icons, nonce }) =>
      put(
        { type: 'plugin', id: `${clientId} ${String(uri)}`, uri, name: displayName, enabled: true },
        { icons, nonce, ...(description !== undefined && { _meta: { description } }) },
      ),
    ),
  )
}

const flat: Member = {
  read: (session) => flatDown(session)['customizations'],
  set: (customizations) => put({ type: 'session/customizationsChanged' }, { customizations }),
}

/**
 * Translates a change of customizations to an action that replaces the whole list. 0.1 can neither remove a
 * customization nor clear its status.
 */
const replaced: Row = (_, context) => byDifference([flat], context)

export const customizationRows = {
  'session/customizationsChanged': one(flatDown),
  'session/customizationToggled': replaced,
  'session/customizationUpdated': replaced,
  'session/customizationRemoved': replaced,
}

/**
 * Replaces the URI of a toggled customization by its id. Clients of 0.1 name a customization by the URI that they
 * see.
 */
export function toggledUp({ uri, ...action }: OldAction, { session }: LiftContext): Action | Refusal {
  const items = (session?.customizations ?? []).map(shapeOf)
  const item = items[shownUris(items).indexOf(String(uri))]
  return item
    ? put(shapeOf(action) as OldAction, { id: item['id'] })
    : new Refusal(`uri: the session has no customization ${JSON.stringify(String(uri).slice(0, 200))}`)
}
