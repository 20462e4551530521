import type { Action } from '../../channel.ts'
import { Activity, withActivity } from '../../status.ts'
import { customizations } from '../customizations.ts'
import { contextOf } from '../lens.ts'
import type { ActionContext, LiftContext, Lowered } from '../lens.ts'
import { at, each, inOrder, listOf, objectChange, omit, put, shapeOf } from '../shape.ts'
import type { OldAction, Shape } from '../shape.ts'
import { one, step } from '../step.ts'

/** Plugins and MCP servers have the flag `enabled` up to 0.7, and a list of decisions, `enablement`, since 0.8. */
const lists = customizations(enabledDown)
const decisionsUp = customizations(enablementUp)

export const v07 = step({
  version: '0.7.0',
  newer: '0.8.0',
  states: {
    root: rootDown,
    session: inOrder(lists.session, statusDown),
  },
  actions: {
    ...lists.rows,
    'root/agentsChanged': one(rootDown),
    'session/customizationToggled': one((action) =>
      put(action, { enabled: isEnabled(action), enablement: undefined }),
    ),
    'session/workingDirectoryReplaced': directoryReplacedDown,
  },
  actionsUp: {
    'session/customizationToggled': toggledUp,
    'session/activeClientSet': (action) => at(action, 'activeClient', objectChange(decisionsUp.activeClient)),
  },
  params: {
    createSession: (params) => at(params, 'activeClient', objectChange(decisionsUp.activeClient)),
  },
  notifications: {
    // 0.8 replaced the name of the resource by its whole description.
    'auth/required': (params) => at(params, 'resource', nameOfResource),
  },
})

function rootDown(state: Shape): Shape {
  return at(lists.root(state), 'agents', each(agentDown))
}

function agentDown(agent: Shape): Shape {
  const withoutReplacement = (value: Shape) => omit(value, 'primaryReplacement')
  return at(
    agent,
    'capabilities',
    objectChange((all) => at(all, 'multipleWorkingDirectories', objectChange(withoutReplacement))),
  )
}

function isDecided(item: Shape): boolean {
  return item['type'] === 'plugin' || item['type'] === 'mcpServer'
}

/**
 * Whether the decisions enable a customization. The first decision of the list is the most specific one and counts.
 * Without a decision, the customization is enabled.
 */
function isEnabled(holder: Shape): unknown {
  return shapeOf(listOf(holder, 'enablement')[0])['enabled'] ?? true
}

function enabledDown(item: Shape): Shape {
  if (!isDecided(item) || ('enabled' in item && !('enablement' in item))) return item
  return put(item, { enabled: isEnabled(item), enablement: undefined, childEnablement: undefined })
}

/**
 * Translates the flag `enabled` of a client's plugin or MCP server to 0.8: `false` becomes a decision with the scope `session`,
 * and `true` becomes no decision.
 */
function enablementUp(item: Shape): Shape {
  const { enabled } = item
  if (!isDecided(item) || enabled === undefined || 'enablement' in item) return item
  return put(item, { enabled: undefined, enablement: enabled === false ? [forSession(false)] : undefined })
}

function forSession(enabled: unknown): Shape {
  return { kind: 'session', enabled }
}

/**
 * Translates the flag `enabled` of an older client to a decision for the session. The decisions for other scopes
 * stay.
 */
function toggledUp(action: OldAction, { session }: LiftContext): Action {
  const { id, enabled } = action
  if ('enablement' in action) return action
  const all = listOf(shapeOf(session), 'customizations').map(shapeOf)
  const children = all.flatMap((item) => listOf(item, 'children').map(shapeOf))
  const found = [...all, ...children].find((item) => item['id'] === id)
  const others = listOf(shapeOf(found), 'enablement').filter((each) => shapeOf(each)['kind'] !== 'session')
  return put(action, { enabled: undefined, enablement: [forSession(enabled), ...others] })
}

/**
 * Translates the replacement of a directory. 0.7 can only remove a directory, or add one at the end of the list. The
 * new list keeps its first directories, as far as the old list has them in the same order. All other old directories
 * are removed, and then the rest of the new list is added in its order.
 */
function directoryReplacedDown(_: OldAction, context?: ActionContext): Lowered {
  const { before, after } = contextOf(context)
  const old = listOf(shapeOf(before), 'workingDirectories')
  const next = listOf(shapeOf(after), 'workingDirectories')
  const length = old.reduce<number>((kept, directory) => (directory === next[kept] ? kept + 1 : kept), 0)
  const kept = new Set(next.slice(0, length))
  const action = (type: string) => (directory: unknown) => ({ type, directory })
  return [
    ...old.filter((each) => !kept.has(each)).map(action('session/workingDirectoryRemoved')),
    ...next.slice(length).map(action('session/workingDirectorySet')),
  ]
}

/**
 * Sets the status to "input needed" if any request is open. Since 0.8, requests that wait for a client's tool do not
 * count.
 */
function statusDown(state: Shape): Shape {
  const { status } = state
  if (typeof status !== 'number') return state
  const needed = listOf(state, 'inputNeeded').length > 0
  if (needed) return put(state, { status: withActivity(status, Activity.InputNeeded) })
  return state
}

function nameOfResource(resource: unknown): unknown {
  return typeof resource === 'string' ? resource : shapeOf(resource)['resource']
}
