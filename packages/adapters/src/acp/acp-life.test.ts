import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { expect, test } from 'vitest'
import { HostlessChat } from '../../../host/test/hostless-chat.ts'
import { isAlive, manualTimers, scriptedAgent } from '../../test/acp.ts'
import { until } from '../../test/shells.ts'
import { processesWith, uniqueSeconds } from '../../test/processes.ts'
import {
  acpRoom,
  callsOf,
  chat,
  defaultChatOf,
  errorOf,
  noticesOf,
  session,
  textOf,
} from '../../test/acp-room.ts'
import type { AcpRoom } from '../../test/acp-room.ts'

const otherChat = 'ahp-chat:/other'

test.each([
  [['resume', 'no-load'], []],
  [['resume-refused'], []],
  [[], []],
  [['load-replays-late'], []],
  [['no-load'], [/cannot resume or load a session/]],
  [['load-fails'], [/No previous sessions found/]],
])(
  '[N46] after a crash of the host an agent with the quirks %j continues the chat',
  async (quirks, notices) => {
    const before = await acpRoom({ quirks })
    await before.turn('say first')
    const room = await before.restart('crash', { quirks })
    const turn = await room.turn('say second\nreplayed')
    expect([turn.state, textOf(turn)]).toEqual(['complete', 'second'])
    expect(noticesOf(turn)).toEqual(notices.map((text) => expect.stringMatching(text)))
    const [first, second] = room.agent.lines('prompts').map((line): PromptRecord => JSON.parse(line))
    // An agent that can restore continues the same ACP session. Any other agent gets a new ACP session and a transcript.
    expect(first?.sessionId === second?.sessionId).toBe(notices.length === 0)
    expect(JSON.stringify(second?.prompt).includes('first')).toBe(notices.length > 0)
  },
)

test('[N46] a turn whose agent exits keeps its output, and can be resumed in another process', async () => {
  const room = await acpRoom()
  const turn = await room.turn('say one\nsay two\ncrash 3')
  expect(errorOf(turn)).toMatchObject({
    resumable: true,
    error: { message: expect.stringContaining('exit code 3') },
  })
  expect(textOf(turn)).toBe('one|two')
  room.resume(turn.id)
  await room.ann.until(() => room.agent.lines('prompts').length > 1)
  expect(room.agent.lines('prompts')[1]).toContain('broken off')
})

test('[N46.2] [N46] a resumed turn sends its message if it failed before the agent had the message', async () => {
  const room = await acpRoom()
  await room.turn('say one')
  const next = await room.restart('close', { program: { command: '/no/such/program' } })
  const failed = await next.turn('say the message')
  expect(errorOf(failed)?.error.message).toContain('there is no program')
  const last = await next.restart('close')
  last.resume(failed.id)
  const again = () => last.chat.turns.find(({ id, state }) => id === failed.id && state === 'complete')
  await last.ann.until(() => again() !== undefined)
  expect(textOf(again() ?? failed)).toBe('the message')
})

test('[N46.3] [N46] an answer to a question from before a crash of the host resumes the turn, and the call runs once', async () => {
  const before = await acpRoom()
  const turnId = before.begin('say a\ndo c1 effects\nsay b')
  const asked = await before.pendingCall()
  const room = await before.restart('crash')
  expect(callsOf(room.chat.activeTurn?.responseParts ?? [])).toMatchObject([
    { status: 'pending-confirmation' },
  ])
  room.decide(asked, true)
  const turn = await room.ended(turnId)
  expect([turn.state, textOf(turn), room.agent.lines('effects')]).toEqual(['complete', 'a|b', ['done']])
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', success: true }])
})

test('[N46] an answer during the exit of the process counts or is late, and in both cases the turn can be resumed', async () => {
  for (const rounds of [0, 5, 50]) {
    const room = await acpRoom()
    const turnId = room.begin('do c1 effects\nsay b')
    const call = await room.pendingCall()
    process.kill(Number(room.agent.lines('started').at(-1)), 'SIGKILL')
    for (let i = 0; i < rounds; i++) await new Promise((resolve) => setImmediate(resolve))
    room.decide(call, true)
    const turn = await room.ended(turnId)
    expect(errorOf(turn)).toMatchObject({ resumable: true })
    room.resume(turnId)
    await until(() => room.agent.lines('started').length > 1)
    const done = () => room.chat.turns.some(({ id, state }) => id === turnId && state === 'complete')
    const pending = () => callsOf(room.chat.activeTurn?.responseParts ?? []).find(isPending)
    await room.ann.until(() => done() || pending() !== undefined)
    const again = pending()
    if (again) room.decide(again, true)
    await room.ann.until(done)
    expect(room.agent.lines('effects')).toEqual(['done'])
  }
})

test('[N46] of two questions from before a crash of the host, the one that is still open is not asked again', async () => {
  const before = await acpRoom()
  const turnId = before.begin('ask-both c1 c2\nsay end')
  const second = await before.pendingCall(({ toolCallId }) => toolCallId.endsWith('-2'))
  const room = await before.restart('crash')
  room.decide(second, true)
  await until(() => room.agent.lines('prompts').length > 1)
  room.decide(await room.pendingCall(), false)
  const turn = await room.ended(turnId)
  expect([turn.state, callsOf(turn.responseParts).length]).toEqual(['complete', 2])
})

test('[N40] two chats of a session are two ACP sessions of one process, and a cancel ends the turn of one', async () => {
  const room = await acpRoom()
  await room.ann.ask('createChat', { channel: session, chat: otherChat })
  await room.ann.ask('subscribe', { channel: otherChat })
  const first = room.begin('wait-cancel')
  await until(() => room.agent.lines('prompts').length > 0)
  const second = room.begin('say hello', {}, otherChat)
  expect(textOf(await room.ended(second, otherChat))).toBe('hello')
  room.cancel(first)
  expect((await room.ended(first)).state).toBe('cancelled')
  expect(textOf(await room.turn('say on'))).toBe('on')
  expect(room.agent.lines('started')).toHaveLength(1)
})

test.each([
  [[], 0],
  [['no-load'], 1],
])(
  '[N40.2] the process of an agent with the quirks %j: when the last client has left, %i are left',
  async (quirks, left) => {
    const room = await acpRoom({ quirks })
    await room.turn('say one')
    const running = () => room.agent.lines('started').map(Number).filter(isAlive)
    expect(running()).toHaveLength(1)
    room.agent.agent.release(session)
    // The turn of another session shows that the release has been processed.
    await new HostlessChat(room.agent.agent).begin('say other').end()
    await until(() => running().length === left + 1)
    expect(textOf(await room.turn('say two'))).toBe('two')
    expect(noticesOf(await room.turn('say three'))).toEqual([])
  },
)

test('[N40] two chats that find their process ended start one process together', async () => {
  const room = await acpRoom()
  await room.ann.ask('createChat', { channel: session, chat: otherChat })
  await room.ann.ask('subscribe', { channel: otherChat })
  await room.ended(room.begin('say a', {}, otherChat), otherChat)
  await room.turn('crash')
  const both = [room.begin('say a'), room.begin('say b', {}, otherChat)] as const
  expect(textOf(await room.ended(both[0]))).toBe('a')
  expect(textOf(await room.ended(both[1], otherChat))).toBe('b')
  expect(room.agent.lines('started')).toHaveLength(2)
})

test('[N40.1] [N40] a process that ignores a cancel is ended after a time, and the next turn starts another', async () => {
  const { later, pass } = manualTimers()
  const room = await acpRoom({ quirks: ['ignores-cancel'], later })
  const turnId = room.begin('wait-cancel')
  await until(() => room.agent.lines('prompts').length > 0)
  room.cancel(turnId)
  await room.ended(turnId)
  const [pid = 0] = room.agent.lines('started').map(Number)
  expect(isAlive(pid)).toBe(true)
  const next = room.begin('say on')
  await until(() => {
    pass(10_000)
    return room.agent.lines('started').length > 1
  })
  await until(() => (pass(200), room.chat.turns.length > 1))
  expect(textOf(await room.ended(next))).toBe('on')
  expect(isAlive(pid)).toBe(false)
})

test('[N40.1] [N40] processes that the agent started end with it: on dispose, on its crash, and when the host closes', async () => {
  const ways = ['dispose', 'crash', 'close'] as const
  const checks = ways.map(async (how) => {
    const seconds = uniqueSeconds()
    const room = await acpRoom({
      quirks: ['orphan', 'orphan-holds-pipes', 'ignores-eof'],
      env: { ACP_ORPHAN: seconds },
    })
    await room.turn('say a')
    await until(() => processesWith(seconds).length > 0)
    if (how === 'dispose') await room.ann.ask('disposeSession', { channel: session })
    else if (how === 'crash') await room.turn('crash')
    else await room.agent.agent.close()
    await until(() => processesWith(seconds).length === 0 && alive(room).length === 0)
  })
  await Promise.all(checks)
})

test('[N40.3] [N40] the dispose of a session ends its working agent, and no process is started for it again', async () => {
  for (const text of ['wait-cancel', 'ask c1', 'hang']) {
    const room = await acpRoom({ quirks: ['ignores-cancel', 'ignores-eof'] })
    room.begin(text)
    await until(() => room.agent.lines('prompts').length > 0)
    await room.ann.ask('disposeSession', { channel: session })
    await until(() => alive(room).length === 0)
    expect(room.agent.lines('started')).toHaveLength(1)
  }
})

test('[N40] the process of a probe is taken over by one session only', async () => {
  const room = await acpRoom()
  await room.ann.ask('createSession', { channel: 'mock:/two' })
  const two = 'mock:/two'
  const uri = `${chat}`.replace(session, two)
  const { snapshot } = await room.ann.ask('subscribe', { channel: two })
  const defaultChat = defaultChatOf(snapshot, uri)
  await room.ann.ask('subscribe', { channel: defaultChat })
  const turns = [room.begin('say a'), room.begin('say b', {}, defaultChat)] as const
  expect(textOf(await room.ended(turns[0]))).toBe('a')
  expect(textOf(await room.ended(turns[1], defaultChat))).toBe('b')
  expect(room.agent.lines('started')).toHaveLength(2)
})

interface PromptRecord {
  readonly sessionId: string
  readonly prompt: readonly object[]
}

function isPending({ status }: ToolCallState): boolean {
  return status === 'pending-confirmation'
}

function alive(room: AcpRoom): readonly number[] {
  return room.agent.lines('started').map(Number).filter(isAlive)
}

test.each(['never-initializes', 'never-opens'])(
  '[N40] the close of the host or of the session ends a process with the quirk %j without waiting for it',
  async (quirk) => {
    const probed = scriptedAgent({ quirks: [quirk], later: manualTimers().later })
    const probing = probed.agent.probe()
    await until(() => probed.lines('started').length > 0)
    await probed.agent.close()
    void probing
    const slow = { quirks: [quirk], profile: { knobs: [] }, later: manualTimers().later }
    const room = await acpRoom(slow, false)
    room.begin('say a')
    await until(() => room.agent.lines('started').length > 0)
    await room.ann.ask('disposeSession', { channel: session })
    const [pid = 0] = room.agent.lines('started').map(Number)
    await until(() => !isAlive(pid))
  },
)
