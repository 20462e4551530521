import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../../agents/failure.ts'
import { announced } from '../frame.ts'
import type { Stage } from '../stage.ts'
import type { Step } from '../step.ts'
import { until } from '../wait.ts'

/** The diffs of edits and turns, and the return to an earlier turn by a checkpoint or a fork. */
export const changes: readonly Step[] = [
  {
    name: 'an edit is shown with the request for approval',
    async run(stage) {
      const { window } = stage
      await window.chat.start('edit note.txt beta => gamma')
      const widget = await window.chat.confirmation()
      await until(async () => (await widget.innerText()).includes('+1'), 'the request shows the change')
      await window.chat.decide('Allow')
      await window.chat.idle()
      must(note(stage) === 'alpha\ngamma\n', `the file has ${JSON.stringify(note(stage))}`)
    },
  },
  {
    name: 'an edit leaves its diff in the chat',
    async run(stage) {
      await edited(stage, 'write shown.txt one line')
      await stage.window.chat.answers('shown.txt')
      await until(() => diffShown(stage), 'the response shows the change')
    },
  },
  {
    name: 'the diff of an edit is there after a reload',
    async run(stage) {
      const { window } = stage
      await edited(stage, 'write kept.txt one line')
      await window.load()
      await window.list.open('write kept.txt one line')
      await until(() => diffShown(stage), 'the response shows the change')
      await window.chat.openDiff('one line')
      await window.picture(`${stage.out}/diff-after-reload.png`)
      await window.command('View: Close All Editors')
    },
  },
  {
    name: 'the changes of a turn are counted, listed and opened',
    async run(stage) {
      const { window } = stage
      await edited(stage, 'write listed.txt one listed line')
      await until(
        async () => /1 file changed\W*\+1/.test(await window.chat.answer()),
        'the response counts the changed files',
      )
      await window.chat.openTurnChange('listed.txt', 'one listed line')
      await window.picture(`${stage.out}/changes-of-a-turn.png`)
      await window.command('View: Close All Editors')
    },
  },
  {
    name: 'restore a checkpoint',
    async run({ window, tap, atrium }) {
      await window.chat.start('say the first turn')
      await window.chat.answers('the first turn')
      await window.chat.ask('say the second turn', 'the second turn')
      const mark = tap.mark
      await window.chat.onRequest('say the second turn', 'Restore Checkpoint')
      await until(async () => (await window.chat.requests()).length === 1, 'one turn is left')
      // The window offers a redo until the next message. Only with that message does the host learn of the restored checkpoint.
      await window.chat.ask('say the third turn', 'the third turn')
      await tap.frame(announced('chat/truncated'), mark)
      const logs = await atrium.logs('say the first turn')
      must(!logs.includes('the second turn'), `atrium logs has the removed turn: ${logs}`)
    },
  },
  {
    name: 'fork from a turn',
    async run({ window, atrium }) {
      await window.chat.start('say before the fork')
      await window.chat.answers('before the fork')
      await window.chat.ask('say behind the fork', 'behind the fork')
      await window.chat.onRequest('say behind the fork', 'Fork Conversation')
      await until(
        async () => !(await window.chat.items()).some((item) => item.includes('behind the fork')),
        'the fork opens without its later turn',
      )
      await window.chat.answers('before the fork')
      await window.chat.ask('say in the fork', 'in the fork')
      const { chats } = await atrium.session('say before the fork')
      must(chats.length === 2, `the session has ${chats.length} chats, not the first one and the fork`)
    },
  },
]

async function edited({ window }: Stage, prompt: string): Promise<void> {
  await window.chat.start(prompt)
  await window.chat.decide('Allow')
  await window.chat.idle()
}

/** Whether the newest response shows a changed file with its number of added lines. */
async function diffShown({ window }: Stage): Promise<boolean> {
  return /\+1\b/.test(await window.chat.answer())
}

function note({ work }: Stage): string {
  return readFileSync(join(work, 'note.txt'), 'utf8')
}
