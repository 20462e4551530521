import { reducer } from '../reduce.ts'
import type { ChatAction } from './actions.ts'
import { propertyCases } from './properties.ts'
import { inputCases } from './input.ts'
import { pendingMessageCases } from './pending-messages.ts'
import type { ChatState } from './state.ts'
import { toolCallCases } from './tool-call.ts'
import { turnCases } from './turn.ts'

export const reduceChat = reducer<ChatState, ChatAction>({
  ...turnCases,
  ...toolCallCases,
  ...inputCases,
  ...pendingMessageCases,
  ...propertyCases,
})
