import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { acpRoom, chat, noticesOf, textOf } from '../../test/acp-room.ts'
import type { AcpRoom } from '../../test/acp-room.ts'

test('[N53] a steering message goes to an agent that takes it, into the same turn, once', async () => {
  const room = await acpRoom({ quirks: ['steers'] })
  const turnId = room.begin('say begun\nhear')
  await room.ann.until(() => room.chat.activeTurn?.responseParts.length === 1)
  steer(room, 'turn left')
  const turn = await room.ended(turnId)
  expect(textOf(turn)).toBe('begun|heard turn left')
  expect(noticesOf(turn)).toEqual(['turn left'])
  expect(room.chat).not.toHaveProperty('steeringMessage')
  expect(room.chat.turns).toHaveLength(1)
  expect(steered(room)).toEqual([
    {
      prompt: [{ type: 'text', text: 'turn left' }],
      _meta: { steering: { idleBehavior: 'promptRequired' } },
    },
  ])
})

test('[N53] an agent that takes no messages gets the steering message as the next turn', async () => {
  const room = await acpRoom()
  room.begin('ask c1 {}')
  const call = await room.pendingCall()
  steer(room, 'say next')
  await room.ann.until(() => room.chat.steeringMessage !== undefined)
  room.decide(call, true)
  await room.ann.until(() => room.chat.turns.length === 2)
  expect(room.chat.turns.map(textOf)).toEqual(['c1 once', 'next'])
})

test('[N53.1] the reason of a refusal reaches an agent that takes messages, in the same turn', async () => {
  const room = await acpRoom({ quirks: ['steers'] })
  const turnId = room.begin('ask c1 {"title":"rm -r build"}\nhear')
  refuse(room, (await room.pendingCall()).toolCallId, 'use make clean')
  const turn = await room.ended(turnId)
  expect(textOf(turn)).toContain('heard I refused: rm -r build. My reason: use make clean')
  expect(noticesOf(turn)).toEqual([])
  await room.turn('say on')
  expect(prompts(room)).toEqual([expect.anything(), ['say on']])
})

test('[N53.1] every other agent gets the reason with the next prompt, once', async () => {
  const room = await acpRoom()
  const turnId = room.begin('ask c1 {"title":"rm -r build"}')
  refuse(room, (await room.pendingCall()).toolCallId, 'use make clean')
  await room.ended(turnId)
  await room.turn('say on')
  await room.turn('say further')
  expect(prompts(room).slice(1)).toEqual([
    ['I refused: rm -r build. My reason: use make clean', 'say on'],
    ['say further'],
  ])
})

test('[N53.2] the description of an agent that was tried says whether it takes messages', async () => {
  for (const [quirks, takesSteering] of [
    [['steers'], true],
    [[], false],
  ] as const) {
    const room = await acpRoom({ quirks })
    await room.turn('say hello')
    expect(room.agent.agent.info).toMatchObject({ _meta: { 'x-atrium': { takesSteering } } })
  }
})

function steer(room: AcpRoom, text: string): void {
  const message = { text, origin: { kind: 'user' } }
  room.ann.dispatch(chat, { type: 'chat/pendingMessageSet', kind: 'steering', id: 's1', message })
}

function refuse(room: AcpRoom, toolCallId: string, reasonMessage: string): void {
  const turnId = room.chat.activeTurn?.id ?? ''
  const decision = { approved: false, reason: 'denied', reasonMessage }
  room.ann.dispatch(chat, { type: 'chat/toolCallConfirmed', turnId, toolCallId, ...decision })
}

function steered(room: AcpRoom): unknown {
  return records(room, 'steered')
}

/** The texts of each prompt that the agent got. */
function prompts(room: AcpRoom): readonly (readonly string[])[] {
  return records(room, 'prompts').map(({ prompt }) => prompt.map(({ text }) => text))
}

function records(room: AcpRoom, name: string) {
  const lines = readFileSync(join(room.agent.folder, name), 'utf8').trimEnd().split('\n')
  return lines.map((line): { prompt: { text: string }[] } => JSON.parse(line))
}
