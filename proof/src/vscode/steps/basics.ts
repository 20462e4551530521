import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../../agents/failure.ts'
import { announced, dispatched } from '../frame.ts'
import type { Step } from '../step.ts'
import { until } from '../wait.ts'

/** A chat of one window with the guide: from the connection to the end of a turn. */
export const basics: readonly Step[] = [
  {
    name: 'connect and list no session',
    async run({ window }) {
      await window.list.show()
      must((await window.list.rows()).length === 0, 'a new host lists a session')
    },
  },
  {
    name: 'create a session and stream an answer',
    async run({ window, tap }, mark) {
      await window.chat.turn('say one two three', 'one two three')
      await tap.frame(announced('chat/delta'), mark)
      await window.list.row('say one two three')
    },
  },
  {
    name: 'approve a command',
    async run({ window, work }) {
      await window.chat.start('run touch approved && expr 111 "*" 9')
      await window.chat.confirmation()
      must(!existsSync(join(work, 'approved')), 'it ran before the approval')
      await window.chat.decide('Allow once')
      await until(() => existsSync(join(work, 'approved')), 'the command runs')
      await window.chat.idle()
      await window.chat.answers('999')
    },
  },
  {
    name: 'deny a command',
    async run({ window, work, tap }, mark) {
      await window.chat.start('run touch denied')
      await window.chat.decide('Deny')
      await window.chat.idle()
      await tap.frame(
        dispatched('chat/toolCallConfirmed', ({ approved }) => approved === false),
        mark,
      )
      must(!existsSync(join(work, 'denied')), 'a denied command ran')
    },
  },
  {
    name: 'allow a tool for the session',
    async run({ window, work }) {
      await window.chat.start('run touch allowed-1')
      await window.chat.decideByMenu('allow', 'Allow in this session')
      await until(() => existsSync(join(work, 'allowed-1')), 'the command runs')
      await window.chat.idle()
      await window.chat.send('run touch allowed-1 allowed-2')
      await until(() => existsSync(join(work, 'allowed-2')), 'the next command runs without a question')
      await window.chat.idle()
    },
  },
]
