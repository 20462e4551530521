import { catalogOf } from '../../catalog/catalog.ts'
import { chatNamed } from '../../channels/wake.ts'
import { DeferredResponse } from '../../kernel/deferred-response.ts'
import { part } from '../../kernel/part.ts'
import { commandPrefix } from '../agents/shell-agent.ts'
import { terminalsOf } from '../../catalog/machine.ts'
import { completions as complete } from './completions.ts'
import { triggers } from './typed.ts'

/** Completions of a word that is being typed. */
export const completions = part({
  name: 'completions',
  rules: {
    offers: (core) => ({
      completionTriggerCharacters: triggers,
      ...(terminalsOf(core) && { terminalCommandPrefix: commandPrefix }),
    }),
    methods: {
      completions: async (core, _, params, name) => {
        // VS Code asks on the channel of the session, and means its default chat.
        const uri = catalogOf(core).get(params.channel)?.defaultChat ?? params.channel
        const chat = await chatNamed(core, uri, name)
        // Later requests do not wait for completions: completions change no state, and the user goes on typing.
        return new DeferredResponse(complete(core, chat, params))
      },
    },
  },
})
