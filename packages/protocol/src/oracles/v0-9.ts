import { absent } from './table.ts'
import type { VersionRules } from './table.ts'
import { v10 } from './v1-0.ts'

/** 0.9: every rule is that of 1.0, which only added action types. */
export const v09: VersionRules = {
  ...v10,
  session: { ...v10.session, ...absent('session/chatsReordered', 'session/mcpServerBackgroundRequested') },
  chat: {
    ...v10.chat,
    ...absent(
      'chat/isReadChanged',
      'chat/isArchivedChanged',
      'chat/movableChanged',
      'chat/changesetsChanged',
    ),
    ...absent('chat/backgroundWorkSet', 'chat/backgroundWorkRemoved', 'chat/canvasesChanged'),
  },
  canvas: undefined,
}
