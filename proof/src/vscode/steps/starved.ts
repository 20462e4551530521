import { announced } from '../frame.ts'
import type { Step } from '../step.ts'

/** A page that gets no processor time while its session goes on. */
export const starved: readonly Step[] = [
  {
    name: 'a turn ends while the page is slowed down',
    async run({ window, tap }) {
      await window.chat.start('slow 12')
      await window.chat.answers('atrium and')
      const mark = tap.mark
      await window.slowDown(50)
      await tap.frame(announced('chat/turnComplete'), mark)
      await window.slowDown(1)
      await window.chat.idle()
      await window.chat.ask('say after the slow page', 'after the slow page')
    },
  },
  {
    name: 'a turn ends while the page is stopped',
    async run(stage) {
      const { window, tap } = stage
      await window.chat.start('slow 12')
      await window.chat.answers('atrium and')
      const mark = tap.mark
      const go = await stage.stopPages()
      try {
        await tap.frame(announced('chat/turnComplete'), mark)
      } finally {
        go()
      }
      await window.chat.idle()
      await window.list.row('slow 12')
      await window.chat.ask('say after the stopped page', 'after the stopped page')
    },
  },
]
