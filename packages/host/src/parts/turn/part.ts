import { part } from '../../kernel/part.ts'
import { asleepFor, isResendOf, pinned } from './pin.ts'

/** Turns, and what is attached to their messages. */
export const turn = part({
  name: 'turn',
  rules: {
    needs: [(core, _, action) => asleepFor(core, action)],
    resends: [isResendOf],
    completions: [(core, _, action) => pinned(core, action)],
  },
})
