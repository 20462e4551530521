import { must } from '../../agents/failure.ts'
import { idOf } from '../command-line.ts'
import type { Step } from '../step.ts'
import { until } from '../wait.ts'

/** One session for every client: windows of VS Code and the command line. */
export const shared: readonly Step[] = [
  {
    name: 'a session of the command line opens with its turns',
    async run({ window, atrium }) {
      await atrium.run('run', '--agent', 'guide', 'say hello from the command line')
      await window.list.open('say hello from the command line')
      await window.chat.answers('hello from the command line')
    },
  },
  {
    name: 'VS Code and the command line send to one session, and both show all',
    async run({ window, atrium }) {
      await atrium.run('run', '--agent', 'guide', 'say begun by the command line')
      await window.list.open('say begun by the command line')
      await window.chat.answers('begun by the command line')
      await window.chat.ask('say sent by VS Code', 'sent by VS Code')
      await atrium.run('send', idOf(await atrium.session('say begun')), 'say sent by the command line')
      await window.chat.ends('sent by the command line')
      const logs = await atrium.logs('say begun')
      for (const text of ['begun by the command line', 'sent by VS Code', 'sent by the command line'])
        must(logs.includes(text), `atrium logs lacks "${text}": ${logs}`)
    },
  },
  {
    name: 'after a reload the shared session is listed once, with all turns',
    async run({ window, atrium }) {
      await atrium.run('run', '--agent', 'guide', 'say listed once')
      await window.list.open('say listed once')
      await window.chat.answers('listed once')
      await window.chat.ask('say from the window', 'from the window')
      await window.load()
      await window.list.open('say listed once')
      await window.chat.answers('from the window')
      const rows = (await window.list.rows()).filter((row) => row.includes('say listed once'))
      must(rows.length === 1, `it is listed ${rows.length} times`)
      await atrium.session('say listed once')
    },
  },
  {
    name: 'a session of VS Code takes messages and approvals from the command line',
    async run({ window, atrium }) {
      await window.chat.turn('say begun in VS Code', 'begun in VS Code')
      const id = idOf(await atrium.session('say begun in VS Code'))
      await window.chat.send('run expr 300 + 33')
      await window.chat.confirmation()
      await atrium.run('approve', id)
      await window.chat.ends('333')
    },
  },
  {
    name: 'two windows and the command line in one session',
    async run(stage) {
      const { window, atrium } = stage
      await window.chat.turn('say three clients', 'three clients')
      const second = await stage.open('second')
      try {
        await second.list.open('say three clients')
        await second.chat.answers('three clients')
        await window.chat.send('slow 5')
        await second.chat.shows('slow 5')
        await second.chat.answers('atrium and')
        await window.chat.idle()
        await second.chat.idle()
        await second.chat.ask('say from the second window', 'from the second window')
        await window.chat.answers('from the second window')
        await atrium.run('send', idOf(await atrium.session('say three clients')), 'say from the terminal')
        for (const each of [window, second]) await each.chat.answers('from the terminal')
      } finally {
        await second.picture(`${stage.out}/two-windows-second.png`)
        await stage.close(second)
      }
    },
  },
  {
    name: 'a request for approval is answered in another window',
    async run(stage) {
      const { window } = stage
      await window.chat.start('run expr 400 + 44')
      await window.chat.confirmation()
      const second = await stage.open('second')
      try {
        await second.list.open('run expr 400 + 44')
        await second.chat.decide('Allow once')
        for (const each of [window, second]) await each.chat.idle()
        const widgets = window.page.locator('.chat-confirmation-widget2')
        await until(async () => (await widgets.count()) === 0, 'the first window asks no more')
      } finally {
        await stage.close(second)
      }
    },
  },
]
