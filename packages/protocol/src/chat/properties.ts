import type { Cases } from '../reduce.ts'
import { directoryRemoved, directorySet } from '../common/directories.ts'
import { Flag, withFlag } from '../status.ts'
import { patch, remove, upsert } from '../update.ts'
import type { PropertyAction } from './actions.ts'
import type { ChatState } from './state.ts'

/** Reducer cases for the properties of a chat: everything but its turns, requests and pending messages. */
export const propertyCases: Cases<ChatState, PropertyAction> = {
  'chat/activityChanged': (state, { activity }) => patch(state, { activity }),
  'chat/draftChanged': (state, { draft }) => patch(state, { draft }),

  'chat/isReadChanged': (state, { isRead }) => ({
    ...state,
    status: withFlag(state.status, Flag.IsRead, isRead),
  }),
  'chat/isArchivedChanged': (state, { isArchived }) => ({
    ...state,
    status: withFlag(state.status, Flag.IsArchived, isArchived),
  }),

  'chat/movableChanged': (state, { movable }) => ({ ...state, movable }),
  'chat/changesetsChanged': (state, { changesets }) => patch(state, { changesets }),
  'chat/canvasesChanged': (state, { canvases }) => patch(state, { canvases }),

  'chat/backgroundWorkSet': (state, { work }) => ({
    ...state,
    backgroundWork: upsert(state.backgroundWork, 'id', work),
  }),
  // An empty list stays in the state. The queue of messages, in contrast, is removed when it is empty.
  'chat/backgroundWorkRemoved': (state, { id }) => {
    const work = state.backgroundWork ?? []
    const left = remove(work, 'id', id)
    return left === work ? state : { ...state, backgroundWork: left }
  },

  'chat/workingDirectorySet': directorySet,
  'chat/workingDirectoryRemoved': directoryRemoved,
}
