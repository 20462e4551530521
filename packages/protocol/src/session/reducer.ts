import { reducer } from '../reduce.ts'
import type { Cases } from '../reduce.ts'
import { configChanged } from '../common/config-changed.ts'
import { directoryRemoved, directoryReplaced, directorySet } from '../common/directories.ts'
import { Activity, Flag, inputNeededBit, withActivity, withFlag } from '../status.ts'
import { orAbsent, patch, remove, upsert } from '../update.ts'
import type { ChatListAction, SessionAction } from './actions.ts'
import { customizationCases } from './customization-cases.ts'
import type { SessionInputRequest, SessionState } from './state.ts'

/** Reducer cases for the list of chats. The host decides the order of the list. */
const chatListCases: Cases<SessionState, ChatListAction> = {
  'session/chatAdded': (state, { summary }) => ({
    ...state,
    chats: upsert(state.chats, 'resource', summary),
  }),

  'session/chatRemoved': (state, { chat }) => {
    const chats = remove(state.chats, 'resource', chat)
    if (chats === state.chats) return state
    return patch(state, { chats, ...(state.defaultChat === chat && { defaultChat: undefined }) })
  },

  'session/chatUpdated': (state, { chat, changes }) => {
    const at = state.chats.findIndex((entry) => entry.resource === chat)
    const entry = state.chats[at]
    if (!entry) return state
    return { ...state, chats: state.chats.with(at, { ...entry, ...changes, resource: entry.resource }) }
  },

  'session/chatsReordered': (state, { chats }) => {
    const entries = new Map(state.chats.map((entry) => [entry.resource, entry]))
    const next = [...new Set(chats)].flatMap((chat) => entries.get(chat) ?? [])
    const whole = next.length === chats.length && next.length === state.chats.length
    const same = next.every((entry, i) => entry === state.chats[i])
    return !whole || same ? state : { ...state, chats: next }
  },

  'session/defaultChatChanged': (state, { defaultChat }) => patch(state, { defaultChat }),
}

export const reduceSession = reducer<SessionState, SessionAction>({
  ...chatListCases,
  ...customizationCases,

  'session/ready': (state) => ({ ...state, lifecycle: 'ready' }),
  'session/creationFailed': (state, { error }) => ({ ...state, lifecycle: 'failed', creationError: error }),

  'session/titleChanged': (state, { title }) => ({ ...state, title }),
  'session/isReadChanged': (state, { isRead }) => ({
    ...state,
    status: withFlag(state.status, Flag.IsRead, isRead),
  }),
  'session/isArchivedChanged': (state, { isArchived }) => ({
    ...state,
    status: withFlag(state.status, Flag.IsArchived, isArchived),
  }),
  'session/activityChanged': (state, { activity }) => patch(state, { activity }),
  'session/changesetsChanged': (state, { changesets }) => patch(state, { changesets }),
  'session/serverToolsChanged': (state, { tools }) => ({ ...state, serverTools: tools }),
  'session/configChanged': configChanged,
  'session/metaChanged': (state, { _meta }) => patch(state, { _meta }),

  'session/activeClientSet': (state, { activeClient }) => ({
    ...state,
    activeClients: upsert(state.activeClients, 'clientId', activeClient),
  }),
  'session/activeClientRemoved': (state, { clientId }) => {
    const activeClients = remove(state.activeClients, 'clientId', clientId)
    return activeClients === state.activeClients ? state : { ...state, activeClients }
  },

  'session/workingDirectorySet': directorySet,
  'session/workingDirectoryRemoved': directoryRemoved,
  'session/workingDirectoryReplaced': directoryReplaced,

  'session/inputNeededSet': (state, { request }) =>
    withNeeded(state, upsert(state.inputNeeded, 'id', request)),
  'session/inputNeededRemoved': (state, { id }) => {
    const needed = state.inputNeeded ?? []
    const left = remove(needed, 'id', id)
    return left === needed ? state : withNeeded(state, left)
  },
})

/** Sets the open requests. The session needs input while one of them waits for a user and not for a client's tool. */
function withNeeded(state: SessionState, needed: readonly SessionInputRequest[]): SessionState {
  const blocked = needed.some((request) => request.kind !== 'toolClientExecution')
  const status = blocked
    ? withActivity(state.status, Activity.InputNeeded)
    : (state.status & ~inputNeededBit) >>> 0
  return patch(state, { inputNeeded: orAbsent(needed), status })
}
