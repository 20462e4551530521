import { must } from '../../agents/failure.ts'
import { announced } from '../frame.ts'
import type { Step } from '../step.ts'
import { until } from '../wait.ts'

/** The list of sessions, and what it does with a session. */
export const list: readonly Step[] = [
  {
    name: 'reload and reopen a session',
    async run({ window }) {
      await window.chat.start('say before the reload')
      await window.chat.answers('before the reload')
      await window.chat.ask('say a second turn', 'a second turn')
      await window.load()
      await window.list.open('say before the reload')
      await window.chat.answers('before the reload')
      await window.chat.answers('a second turn')
      await window.chat.ask('say after the reload', 'after the reload')
    },
  },
  {
    name: 'rename a session',
    async run(stage) {
      const { window, atrium, tap } = stage
      await window.chat.turn('say rename me', 'rename me')
      const second = await stage.open('second')
      try {
        await second.list.row('say rename me')
        const mark = tap.mark
        await window.list.choose('say rename me', 'Rename...')
        await window.page.locator('.quick-input-widget .quick-input-box input').first().waitFor()
        await window.page.keyboard.press('Control+A')
        await window.page.keyboard.type('A better name')
        await window.page.keyboard.press('Enter')
        await window.list.row('A better name')
        await tap.frame(announced('session/titleChanged'), mark)
        await second.list.row('A better name')
        await until(
          async () => (await atrium.sessions('A better name')).length === 1,
          'atrium ls has the name',
        )
        await second.list.gone('say rename me')
      } finally {
        await stage.close(second)
      }
    },
  },
  {
    name: 'mark a session as done',
    async run({ window, tap, atrium }) {
      await window.chat.turn('say archive me', 'archive me')
      const mark = tap.mark
      await window.list.choose('say archive me', 'Mark as Done')
      await tap.frame(announced('session/isArchivedChanged'), mark)
      const shown = await atrium.run('ls', '--json')
      must(!shown.includes('say archive me'), 'atrium ls still lists it without --all')
    },
  },
  {
    name: 'delete a session',
    async run({ window, atrium }) {
      await window.chat.turn('say delete me', 'delete me')
      await window.list.choose('say delete me', 'Delete...')
      await window.confirm('Delete')
      await window.list.gone('say delete me')
      await until(
        async () => (await atrium.sessions('say delete me')).length === 0,
        'atrium ls has it no more',
      )
    },
  },
]
