import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { fakeTerminals } from '../../../test/fake-terminals.ts'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { call, confirmed, ready, toolCallStarted } from '../../../test/tool-call-actions.ts'
import { accepted, chat, chatOf, turn, twoClientSession } from '../../../test/two-client-session.ts'

/** A turn whose command was left running, and the turn has ended. */
async function leftCommand() {
  const terminals = fakeTerminals()
  const all = await twoClientSession(new ScriptedAgent(), { machine: { terminals } })
  const run = await turn(all, 't1', toolCallStarted(), ready({ toolInput: 'npm run dev' }))
  await accepted(all.ann, chat, confirmed)
  const running = await run.chat.run({ ...call, line: 'npm run dev\n# a server' })
  const [shell] = terminals.shells
  if (!shell) throw new Error('nothing runs')
  shell.data('ready\r\n')
  const left = running.leave()
  await until(() => chatOf(all).backgroundWork?.length === 1)
  all.world.advance(2000)
  const outcome = await left
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  return { ...all, shell, outcome, terminal: running.terminal }
}

const workOf = (state: unknown) => (state as ChatState).backgroundWork ?? []

test('[H50] a command that is left runs on after its turn, and every client sees it', async () => {
  const { ann, ben, shell, outcome, terminal } = await leftCommand()
  expect(shell.ended).toBe(false)
  expect(outcome).toMatchObject({ output: 'ready', ended: false })
  const shown = {
    kind: 'shell',
    id: terminal,
    terminal,
    label: 'npm run dev',
    command: 'npm run dev\n# a server',
  }
  for (const client of [ann, ben]) expect(workOf(client.state(chat))).toMatchObject([shown])
})

test('[H50.1] the work ends with its command', async () => {
  const all = await leftCommand()
  all.shell.exit(0)
  await all.ben.until(() => workOf(all.ben.state(chat)).length === 0)
})

test('[H50.1] any client can stop the work', async () => {
  const all = await leftCommand()
  await all.ben.ask('disposeTerminal', { channel: all.terminal })
  expect(all.shell.ended).toBe(true)
  await all.ann.until(() => workOf(all.ann.state(chat)).length === 0)
})

test('[H50.2] the work ends with its session', async () => {
  const all = await leftCommand()
  await all.ann.ask('disposeSession', { channel: session })
  await until(() => all.shell.ended)
})

test.each(['crash', 'close'] as const)(
  '[H50.2] after a %s of the host the state has no work',
  async (how) => {
    const all = await leftCommand()
    await all.restart(how)
    const cem = await all.join('cem', { subscribe: [chat] })
    expect(workOf(cem.state(chat))).toEqual([])
    // The next start finds nothing to do.
    await all.restart()
    const dan = await all.join('dan', { subscribe: [chat] })
    expect(workOf(dan.state(chat))).toEqual([])
  },
)

test('[H50] work of a chat that sleeps ends, too', async () => {
  const all = await leftCommand()
  for (const client of [all.ann, all.ben]) {
    client.peer.notify('unsubscribe', { channel: chat })
    client.peer.notify('unsubscribe', { channel: session })
    await client.ask('listSessions', {})
  }
  all.world.advance(60_000)
  await until(() => all.core().log.channel(chat) === undefined)
  all.shell.exit(0)
  const cem = await all.join('cem')
  await until(() => all.core().log.channel(chat) !== undefined)
  await cem.ask('subscribe', { channel: chat })
  await cem.until(() => workOf(cem.state(chat)).length === 0)
})
