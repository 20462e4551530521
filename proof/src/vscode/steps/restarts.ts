import { must } from '../../agents/failure.ts'
import { announced } from '../frame.ts'
import type { Step } from '../step.ts'
import { until } from '../wait.ts'

/** The host ends and comes back while a window is open. */
export const restarts: readonly Step[] = [
  {
    name: 'kill the host in a turn, and resume the turn',
    async run(stage) {
      const { window } = stage
      await window.chat.start('slow 12')
      await window.chat.answers('atrium and')
      await stage.restartHost()
      await window.chat.interrupted()
      await window.chat.resume()
      await window.chat.ends('open house the')
    },
  },
  {
    name: 'after a kill no session stays at "Working…"',
    async run(stage) {
      const { window } = stage
      await window.chat.start('slow 301')
      await window.chat.answers('atrium and')
      await window.chat.fresh()
      await until(
        async () => (await window.list.line('slow 301')).includes('Working'),
        'the list says Working',
      )
      await stage.restartHost()
      await until(
        async () => !(await window.list.rows()).some((row) => row.includes('Working')),
        'no session is listed as Working',
      )
    },
  },
  {
    name: 'a request for approval survives a kill',
    async run(stage) {
      const { window, tap } = stage
      await window.chat.start('run expr 600 + 66')
      await window.chat.confirmation()
      await stage.restartHost()
      const mark = tap.mark
      await window.chat.decide('Allow once')
      const { message } = await tap.frame(announced('chat/toolCallComplete'), mark)
      must(JSON.stringify(message).includes('666'), 'the command did not run')
      await window.chat.idle()
    },
  },
  {
    name: 'the host is replaced under a running window',
    async run(stage) {
      const { window } = stage
      await window.chat.turn('say before the update', 'before the update')
      await stage.stopHost()
      await stage.startHost()
      await window.chat.ask('say behind the update', 'behind the update')
      await window.chat.answers('before the update')
      await window.list.row('say before the update')
    },
  },
]
