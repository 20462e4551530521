import { whenCommitted } from '../../kernel/deferred-response.ts'
import { part } from '../../kernel/part.ts'
import { terminalFollowUps } from './terminal-list.ts'
import { terminalGuards } from './guards.ts'
import { createTerminal, disposeTerminal, terminalEffects } from './terminal.ts'

/** Terminals, and the shells behind them. */
export const terminal = part({
  name: 'terminal',
  rules: {
    methods: {
      createTerminal: async (core, link, params) =>
        whenCommitted(core, await createTerminal(core, link, params)),
      disposeTerminal: async (core, _, params) => whenCommitted(core, await disposeTerminal(core, params)),
    },
    guards: [terminalGuards],
    effects: [terminalEffects],
    followUps: { terminal: terminalFollowUps },
  },
})
