import { whenCommitted } from '../../kernel/deferred-response.ts'
import { part } from '../../kernel/part.ts'
import { convertAnswers, isConversionOf } from './answer-conversion.ts'
import { createChat, disposeChat } from './chat.ts'
import { chatGuards } from './guards.ts'
import { repeatForm } from './repeat-form.ts'
import { chatEffects } from './start-turn.ts'

/** The chats of sessions. */
export const chat = part({
  name: 'chat',
  rules: {
    methods: {
      createChat: async (core, _, params) => whenCommitted(core, await createChat(core, params)),
      disposeChat: async (core, _, params) => whenCommitted(core, await disposeChat(core, params)),
    },
    guards: [chatGuards],
    effects: [chatEffects],
    resends: [isConversionOf],
    conversions: [convertAnswers],
    refused: [repeatForm],
  },
})
