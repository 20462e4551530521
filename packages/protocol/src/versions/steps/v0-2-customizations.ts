import { byDifference } from '../difference.ts'
import type { Member } from '../difference.ts'
import { at, each, listOf, put, omit, shapeOf, textOf } from '../shape.ts'
import type { Shape } from '../shape.ts'
import { one } from '../step.ts'
import type { Row } from '../step.ts'

/** Translates the customizations of an object that has a list of them: a session, its active client, or an agent. */
export function customizationsDown<S extends Shape>(holder: S): S {
  return at(holder, 'customizations', each(customizationDown))
}

/**
 * Translates one customization. At 0.2 an MCP server is always part of a plugin, and has no state. So a server at the
 * top level is shown as a plugin, whose load state follows from the state of the server.
 */
function customizationDown(item: Shape): Shape {
  return item['type'] === 'mcpServer' ? pluginOf(item) : at(item, 'children', each(childDown))
}

function childDown(child: Shape): Shape {
  return child['type'] === 'mcpServer' ? omit(child, 'enabled', 'state', 'channel', 'mcpApp') : child
}

function pluginOf(server: Shape): Shape {
  const plugin = put(omit(server, 'state', 'channel', 'mcpApp'), { type: 'plugin' })
  return put(plugin, { load: loadOf(shapeOf(server['state'])) })
}

function loadOf(state: Shape): Shape | undefined {
  switch (state['kind']) {
    case 'starting':
      return { kind: 'loading' }
    case 'ready':
      return { kind: 'loaded' }
    case 'authRequired':
      return { kind: 'degraded', message: textOf(state, 'description') ?? 'sign-in is required' }
    case 'error':
      return { kind: 'error', message: textOf(shapeOf(state['error']), 'message') ?? 'the server failed' }
    default:
      // A server that is stopped is not loaded.
      return undefined
  }
}

/** Translates a change of a server's state. At 0.2 only a server at the top level shows its state. */
const serverChanged: Row = ({ id }, context) => byDifference([server(id)], context)

function server(id: unknown): Member {
  return {
    read: (session) => {
      const found = listOf(session, 'customizations')
        .map(shapeOf)
        .find((item) => item['id'] === id)
      return found && customizationDown(found)
    },
    set: (customization) => put({ type: 'session/customizationUpdated' }, { customization }),
  }
}

export const customizationRows = {
  'session/customizationsChanged': one(customizationsDown),
  'session/customizationUpdated': one((action) =>
    put(action, { customization: customizationDown(shapeOf(action['customization'])) }),
  ),
  'session/mcpServerStateChanged': serverChanged,
}
