import { conversation } from '../conversation.ts'
import { customizations } from '../customizations.ts'
import { contextOf } from '../lens.ts'
import type { ActionContext, Lowered } from '../lens.ts'
import { at, each, listOf, objectChange, omit, shapeOf, textOf } from '../shape.ts'
import type { OldAction, Shape } from '../shape.ts'
import { one, step } from '../step.ts'

/**
 * Removes input requests from the parts of turns. Up to 0.5.1 an answered input request leaves nothing in the turn.
 */
const talk = conversation({
  part: (part) => (part['kind'] === 'inputRequest' ? undefined : part),
  content: contentsDown,
})
const lists = customizations(customizationDown)
const filesDown = (holder: Shape) => at(holder, 'files', each(fileDown))

export const v051 = step({
  version: '0.5.1',
  newer: '0.5.2',
  states: {
    root: lists.root,
    session: (state) => talk.session(lists.session(state)),
    chat: talk.chat,
    changeset: filesDown,
  },
  actions: {
    ...talk.rows,
    ...lists.rows,
    'session/customizationToggled': toggledDown,
    // 0.5.1 has no requests to start or stop a server. The client gets the state of the server that follows from
    // them.
    'session/mcpServerStartRequested': ({ id }) => [serverState(id, 'starting')],
    'session/mcpServerStopRequested': ({ id }) => [serverState(id, 'stopped')],
    'changeset/fileSet': one((action) => at(action, 'file', objectChange(fileDown))),
    'changeset/contentChanged': one(filesDown),
  },
  results: {
    initialize: (result) => omit(result, 'serverInfo', 'terminalCommandPrefix'),
    fetchTurns: (result) => at(result, 'turns', talk.turns),
  },
})

/**
 * Translates a customization. Up to 0.5.1 a child that is not an MCP server cannot be enabled or disabled, and only
 * agents have `_meta`. The description in the `_meta` of a plugin stays, because at 0.1 a plugin has one.
 */
function customizationDown(item: Shape, isChild: boolean): Shape {
  const { type } = item
  const common = type === 'agent' ? omit(item, 'disableModelInvocation') : withoutMeta(item)
  if (!isChild) return omit(common, 'version')
  return type === 'mcpServer' ? common : omit(common, 'enabled', 'disableUserInvocation')
}

function withoutMeta(item: Shape): Shape {
  const description = item['type'] === 'plugin' ? textOf(shapeOf(item['_meta']), 'description') : undefined
  return description === undefined ? omit(item, '_meta') : { ...item, _meta: { description } }
}

/**
 * Translates a toggle. Up to 0.5.1 it reaches only the top level. If the toggled customization is an MCP server in a
 * container, the whole container is sent. The toggle of any other child is left out.
 */
function toggledDown(action: OldAction, context?: ActionContext): Lowered {
  const { id } = action
  const items = listOf(shapeOf(contextOf(context).after), 'customizations').map(shapeOf)
  if (items.some((item) => item['id'] === id)) return [action]
  const hasId = (child: unknown) => shapeOf(child)['id'] === id
  const container = items.find((item) => listOf(item, 'children').some(hasId))
  const child = shapeOf(container && listOf(container, 'children').find(hasId))
  if (!container || child['type'] !== 'mcpServer') return []
  return [
    { type: 'session/customizationUpdated', customization: lists.customization(container) } as OldAction,
  ]
}

function serverState(id: unknown, kind: string): OldAction {
  return { type: 'session/mcpServerStateChanged', id, state: { kind } }
}

/**
 * Replaces the result of a command by a text with the preview of its output. A result is left out if it has no preview, or if
 * another text of the call has the same output: the preview is its end.
 */
function contentsDown(list: unknown): unknown {
  if (!Array.isArray(list)) return list
  const texts = list.map((item) => textOf(shapeOf(item), 'text')?.trim())
  return each((content) => {
    if (content['type'] !== 'terminalComplete') return content
    const { preview } = content
    if (
      typeof preview !== 'string' ||
      texts.some((text) => text !== undefined && isEnd(preview.trim(), text))
    )
      return undefined
    return { type: 'text', text: preview }
  })(list)
}

function isEnd(part: string, text: string): boolean {
  return part === '' ? text === '' : text.endsWith(part)
}

function fileDown(file: Shape): Shape {
  return omit(file, 'reviewed')
}
