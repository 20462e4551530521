import { statusOf } from '../chat/tool-call.ts'
import { callRules } from './calls.ts'
import type { CallTraits } from './traits.ts'
import { absent, named } from './table.ts'
import type { VersionRules } from './table.ts'
import { v07 } from './v0-7.ts'

/** At 0.6 the input of a call is text. The contributor and the intention of a call are fixed at its start. */
export const calls06: CallTraits = {
  callKeys: ['toolCallId', 'toolName', 'displayName', 'intention', 'contributor', '_meta'],
  confirmationKeys: ['confirmationTitle', 'riskAssessment', 'edits', 'editable', 'options'],
  readyAgain: true,
  replacesMeta: true,
  statusOf,
}
const { toolCallReady, toolCallConfirmed } = callRules(calls06)

export const v06: VersionRules = {
  ...v07,
  session: {
    ...v07.session,
    ...absent('session/workingDirectorySet', 'session/workingDirectoryRemoved'),
  },
  chat: {
    ...v07.chat,
    ...absent('chat/workingDirectorySet', 'chat/workingDirectoryRemoved'),
    ...named('chat', { toolCallReady, toolCallConfirmed }),
  },
}
