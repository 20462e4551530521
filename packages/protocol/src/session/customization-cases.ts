import type { Cases } from '../reduce.ts'
import { mapped, patch, remove, upsert } from '../update.ts'
import type { CustomizationAction } from './actions.ts'
import type { ChildCustomization, Customization, McpServerCustomization } from './customization.ts'
import type { SessionState } from './state.ts'

/** A customization of a session: at the top level, or a child of a plugin or directory. */
type Any = Customization | ChildCustomization

export const customizationCases: Cases<SessionState, CustomizationAction> = {
  'session/customizationsChanged': (state, { customizations }) => ({ ...state, customizations }),

  'session/customizationToggled': (state, { id, enablement }) => {
    const toggle = <C extends Any>(item: C): C =>
      item.type === 'plugin' || item.type === 'mcpServer'
        ? // The test of `type` does not narrow the type parameter `C`.
          (patch<WithEnablement>(item as WithEnablement, {
            enablement: enablement.length > 0 ? [...enablement] : undefined,
          }) as C)
        : { ...item, enabled: enablement[0]?.enabled ?? true }
    return change(state, (list) => changeFirst(list, id, toggle))
  },

  'session/customizationUpdated': (state, { customization }) => ({
    ...state,
    customizations: upsert(state.customizations, 'id', customization),
  }),

  'session/customizationRemoved': (state, { id }) =>
    change(state, (list) => {
      const left = remove(list, 'id', id)
      return left === list ? eachContainer(list, (children) => remove(children, 'id', id)) : left
    }),

  'session/mcpServerStateChanged': (state, { id, state: next, channel }) =>
    change(state, (list) => changeServers(list, id, (server) => patch(server, { state: next, channel }))),

  'session/mcpServerStartRequested': (state, { id }) =>
    change(state, (list) =>
      changeServers(list, id, (server) => patch(server, { state: { kind: 'starting' }, channel: undefined })),
    ),

  'session/mcpServerStopRequested': (state, { id }) =>
    change(state, (list) =>
      changeServers(list, id, (server) => patch(server, { state: { kind: 'stopped' }, channel: undefined })),
    ),

  'session/mcpServerBackgroundRequested': (state, { id }) =>
    change(state, (list) =>
      changeServers(list, id, (server) =>
        server.state.kind === 'starting' && server.state.blocking
          ? { ...server, state: { ...server.state, blocking: false } }
          : server,
      ),
    ),
}

/** The customizations with a list of scoped decisions instead of one flag. */
type WithEnablement = Extract<Any, { readonly enablement?: unknown }>
type List = readonly Customization[]

function change(state: SessionState, update: (list: List) => List): SessionState {
  if (!state.customizations) return state
  const customizations = update(state.customizations)
  return customizations === state.customizations ? state : { ...state, customizations }
}

/** Changes the item with that id at the top level or, if there is none, the first child with that id. */
function changeFirst(list: List, id: string, update: <C extends Any>(item: C) => C): List {
  const top = list.findIndex((item) => item.id === id)
  if (top >= 0) return changeAt(list, top, update)
  let found = false
  return eachContainer(list, (children) => {
    const at = found ? -1 : children.findIndex((child) => child?.id === id)
    if (at < 0) return children
    found = true
    return changeAt(children, at, update)
  })
}

/**
 * Changes the MCP server with that id at the top level. If no item at the top level has that id, the first child with
 * that id is changed in every container. A found item that is not an MCP server stays unchanged, and the search does
 * not continue after it.
 */
function changeServers(
  list: List,
  id: string,
  update: (server: McpServerCustomization) => McpServerCustomization,
): List {
  // `update` returns an MCP server, as `item` is. The compiler cannot conclude that this is the type `C`.
  const ifServer = <C extends Any>(item: C): C => (item.type === 'mcpServer' ? (update(item) as C) : item)
  const top = list.findIndex((item) => item.id === id)
  if (top >= 0) return changeAt(list, top, ifServer)
  return eachContainer(list, (children) => {
    const at = children.findIndex((child) => child?.id === id)
    return at < 0 ? children : changeAt(children, at, ifServer)
  })
}

function eachContainer(
  list: List,
  update: (children: readonly ChildCustomization[]) => readonly ChildCustomization[],
): List {
  return mapped(list, (item) => {
    if (item.type === 'mcpServer' || !Array.isArray(item.children)) return item
    const children = update(item.children)
    return children === item.children ? item : { ...item, children }
  })
}

function changeAt<T>(list: readonly T[], at: number, update: (item: T) => T): readonly T[] {
  const item = list[at]
  const next = item === undefined ? item : update(item)
  return next === undefined || next === item ? list : list.with(at, next)
}
