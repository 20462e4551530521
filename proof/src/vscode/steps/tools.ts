import { must } from '../../agents/failure.ts'
import { idOf } from '../command-line.ts'
import { announced, dispatched } from '../frame.ts'
import type { Stage } from '../stage.ts'
import type { Step } from '../step.ts'

/** The tools that VS Code lends to agents. Some run commands. VS Code remembers what was allowed, so the denial comes first. */
export const tools: readonly Step[] = [
  {
    name: 'a task that the user does not allow is not run',
    async run(stage, mark) {
      const { window, tap } = stage
      const task = { label: 'skipped', type: 'shell', command: 'touch task-skipped' }
      await call(stage, 'createAndRunTask', { workspaceFolder: stage.work, task })
      await window.chat.confirmation()
      await window.chat.decide('Skip')
      await tap.frame(
        announced('chat/toolCallConfirmed', ({ approved }) => approved === false),
        mark,
      )
      await window.chat.idle()
      must(!tap.frames.slice(mark).some(dispatched('chat/toolCallComplete')), 'the tool ran')
    },
  },
  {
    name: 'VS Code asks its user before an agent makes and runs a task',
    async run(stage, mark) {
      const { window, tap } = stage
      const task = { label: 'allowed', type: 'shell', command: 'touch task-allowed' }
      await call(stage, 'createAndRunTask', { workspaceFolder: stage.work, task })
      await window.chat.confirmation()
      must(
        !tap.frames.slice(mark).some(dispatched('chat/toolCallComplete')),
        'the tool ran without a question',
      )
      await window.chat.decide('Allow')
      // In a browser the tool then fails, because it cannot write into the folder.
      await tap.frame(dispatched('chat/toolCallComplete'), mark)
      await window.chat.idle()
    },
  },
  {
    name: 'a harmless tool of VS Code runs without a question',
    async run(stage, mark) {
      await call(stage, 'testFailure', {})
      await stage.tap.frame(
        announced('chat/toolCallConfirmed', ({ confirmed }) => confirmed === 'not-needed'),
        mark,
      )
      await stage.tap.frame(announced('chat/toolCallComplete'), mark)
      await stage.window.chat.idle()
    },
  },
]

/** Lets the agent call a tool of the window in a new session. */
async function call({ window, atrium }: Stage, name: string, input: object): Promise<void> {
  const title = `say hello to ${name} ${++calls}`
  await window.chat.turn(title, title.slice('say '.length))
  // The command ends with an error if the call waits for an answer.
  atrium
    .run('send', idOf(await atrium.session(title)), `call ${name} ${JSON.stringify(input)}`)
    .catch(() => '')
}

let calls = 0
