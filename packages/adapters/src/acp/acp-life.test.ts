import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { expect, test } from 'vitest'
import { handLater, scripted } from '../../test/acp.ts'
import { until } from '../../test/shells.ts'
import { processesWith, uniqueSeconds } from '../../test/processes.ts'
import { acpRoom, callsOf, chat, errorOf, notesOf, session, textOf } from '../../test/acp-room.ts'
import type { AcpRoom } from '../../test/acp-room.ts'

const other = 'ahp-chat:/other'

test.each([
  [['resume', 'no-load'], []],
  [['resume-refused'], []],
  [[], []],
  [['load-replays-late'], []],
  [['no-load'], [/has no memory|cannot take up a session again/]],
  [['load-fails'], [/No previous sessions found/]],
])('[N46] after its process and its host have gone, an agent that is %j goes on', async (quirks, notes) => {
  const before = await acpRoom({ quirks })
  await before.turn('say first')
  const all = await before.restarted('crash', { quirks })
  const turn = await all.turn('say second\nreplayed')
  expect([turn.state, textOf(turn)]).toEqual(['complete', 'second'])
  expect(notesOf(turn)).toEqual(notes.map((words) => expect.stringMatching(words)))
  const [first, second] = all.agent.lines('prompts').map((line) => JSON.parse(line) as Prompted)
  // It is its own session, or one that was told what happened.
  expect(first?.sessionId === second?.sessionId).toBe(notes.length === 0)
  expect(JSON.stringify(second?.prompt).includes('first')).toBe(notes.length > 0)
})

test('[N46] an agent that dies in the midst of a turn: it can go on, in another process, with what it said', async () => {
  const all = await acpRoom()
  const turn = await all.turn('say one\nsay two\ncrash 3')
  expect(errorOf(turn)).toMatchObject({
    resumable: true,
    error: { message: expect.stringContaining('exit code 3') },
  })
  expect(textOf(turn)).toBe('one|two')
  all.resume(turn.id)
  await all.ann.until(() => all.agent.lines('prompts').length > 1)
  expect(all.agent.lines('prompts')[1]).toContain('broken off')
})

test('[N46] a turn that failed before the agent had its message gets it when it goes on', async () => {
  const all = await acpRoom()
  await all.turn('say one')
  const next = await all.restarted('close', { program: { command: '/no/such/program' } })
  const failed = await next.turn('say the message')
  expect(errorOf(failed)?.error.message).toContain('there is no program')
  const last = await next.restarted('close')
  last.resume(failed.id)
  const again = () => last.chat.turns.find(({ id, state }) => id === failed.id && state === 'complete')
  await last.ann.until(() => again() !== undefined)
  expect(textOf(again() ?? failed)).toBe('the message')
})

test('[N46] a host that dies while an agent asks: the answer takes the turn up, and it is done once', async () => {
  const before = await acpRoom()
  const turnId = before.begin('say a\ndo c1 deeds\nsay b')
  const asked = await before.asked()
  const all = await before.restarted('crash')
  expect(callsOf(all.chat.activeTurn?.responseParts ?? [])).toMatchObject([
    { status: 'pending-confirmation' },
  ])
  all.decide(asked, true)
  const turn = await all.ended(turnId)
  expect([turn.state, textOf(turn), all.agent.lines('deeds')]).toEqual(['complete', 'a|b', ['done']])
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', success: true }])
})

test('[N46] an answer that comes while the process dies is heard or is late; either way the turn ends and can go on', async () => {
  for (const rounds of [0, 5, 50]) {
    const all = await acpRoom()
    const turnId = all.begin('do c1 deeds\nsay b')
    const call = await all.asked()
    process.kill(Number(all.agent.lines('started').at(-1)), 'SIGKILL')
    for (let i = 0; i < rounds; i++) await new Promise((resolve) => setImmediate(resolve))
    all.decide(call, true)
    const turn = await all.ended(turnId)
    expect(errorOf(turn)).toMatchObject({ resumable: true })
    all.resume(turnId)
    await until(() => all.agent.lines('started').length > 1)
    const done = () => all.chat.turns.some(({ id, state }) => id === turnId && state === 'complete')
    const open = () => callsOf(all.chat.activeTurn?.responseParts ?? []).find(isOpen)
    await all.ann.until(() => done() || open() !== undefined)
    const again = open()
    if (again) all.decide(again, true)
    await all.ann.until(done)
    expect(all.agent.lines('deeds')).toEqual(['done'])
  }
})

test('[N46] of two questions that a host left, the one that is answered later is still asked once', async () => {
  const before = await acpRoom()
  const turnId = before.begin('ask-both c1 c2\nsay end')
  const second = await before.asked(({ toolCallId }) => toolCallId.endsWith('-2'))
  const all = await before.restarted('crash')
  all.decide(second, true)
  await until(() => all.agent.lines('prompts').length > 1)
  all.decide(await all.asked(), false)
  const turn = await all.ended(turnId)
  expect([turn.state, callsOf(turn.responseParts).length]).toEqual(['complete', 2])
})

test('[N40] two chats of a session are two sessions of one process; a cancel ends the turn of one', async () => {
  const all = await acpRoom()
  await all.ann.ask('createChat', { channel: session, chat: other })
  await all.ann.ask('subscribe', { channel: other })
  const first = all.begin('wait-cancel')
  await until(() => all.agent.lines('prompts').length > 0)
  const second = all.begin('say hello', {}, other)
  expect(textOf(await all.ended(second, other))).toBe('hello')
  all.cancel(first)
  expect((await all.ended(first)).state).toBe('cancelled')
  expect(textOf(await all.turn('say on'))).toBe('on')
  expect(all.agent.lines('started')).toHaveLength(1)
})

test('[N40] two chats that find their process gone start one, together', async () => {
  const all = await acpRoom()
  await all.ann.ask('createChat', { channel: session, chat: other })
  await all.ann.ask('subscribe', { channel: other })
  await all.ended(all.begin('say a', {}, other), other)
  await all.turn('crash')
  const both = [all.begin('say a'), all.begin('say b', {}, other)] as const
  expect(textOf(await all.ended(both[0]))).toBe('a')
  expect(textOf(await all.ended(both[1], other))).toBe('b')
  expect(all.agent.lines('started')).toHaveLength(2)
})

test('[N40] one that ignores a cancel is ended after a time, and the next turn has another', async () => {
  const { later, pass } = handLater()
  const all = await acpRoom({ quirks: ['ignores-cancel'], later })
  const turnId = all.begin('wait-cancel')
  await until(() => all.agent.lines('prompts').length > 0)
  all.cancel(turnId)
  await all.ended(turnId)
  const [pid = 0] = all.agent.lines('started').map(Number)
  expect(isAlive(pid)).toBe(true)
  const next = all.begin('say on')
  await until(() => {
    pass(10_000)
    return all.agent.lines('started').length > 1
  })
  await until(() => (pass(200), all.chat.turns.length > 1))
  expect(textOf(await all.ended(next))).toBe('on')
  expect(isAlive(pid)).toBe(false)
})

test('[N40] what it has started goes with it: when its session is disposed of, when it dies, when the host goes', async () => {
  const ways = ['dispose', 'crash', 'close'] as const
  const gone = ways.map(async (how) => {
    const seconds = uniqueSeconds()
    const all = await acpRoom({
      quirks: ['orphan', 'orphan-holds-pipes', 'ignores-eof'],
      env: { ACP_ORPHAN: seconds },
    })
    await all.turn('say a')
    expect(processesWith(seconds).length).toBeGreaterThan(0)
    if (how === 'dispose') await all.ann.ask('disposeSession', { channel: session })
    else if (how === 'crash') await all.turn('crash')
    else await all.agent.agent.close()
    await until(() => processesWith(seconds).length === 0)
    expect(alive(all)).toEqual([])
  })
  await Promise.all(gone)
})

test('[N40] a session that is disposed of while its agent works ends it, and nothing is started for it again', async () => {
  for (const text of ['wait-cancel', 'ask c1', 'hang']) {
    const all = await acpRoom({ quirks: ['ignores-cancel', 'ignores-eof'] })
    all.begin(text)
    await until(() => all.agent.lines('prompts').length > 0)
    await all.ann.ask('disposeSession', { channel: session })
    await until(() => alive(all).length === 0)
    expect(all.agent.lines('started')).toHaveLength(1)
  }
})

test('[N40] one that was started to be asked is taken by one session, and by no other', async () => {
  const all = await acpRoom()
  await all.ann.ask('createSession', { channel: 'mock:/two' })
  const two = 'mock:/two'
  const uri = `${chat}`.replace(session, two)
  const { snapshot } = await all.ann.ask('subscribe', { channel: two })
  const { defaultChat = uri } = (snapshot?.state ?? {}) as { defaultChat?: string }
  await all.ann.ask('subscribe', { channel: defaultChat })
  const turns = [all.begin('say a'), all.begin('say b', {}, defaultChat)] as const
  expect(textOf(await all.ended(turns[0]))).toBe('a')
  expect(textOf(await all.ended(turns[1], defaultChat))).toBe('b')
  expect(all.agent.lines('started')).toHaveLength(2)
})

interface Prompted {
  readonly sessionId: string
  readonly prompt: readonly object[]
}

function isOpen({ status }: ToolCallState): boolean {
  return status === 'pending-confirmation'
}

function alive(all: AcpRoom): readonly number[] {
  return all.agent.lines('started').map(Number).filter(isAlive)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test.each(['never-initializes', 'never-opens'])(
  '[N40] nobody waits for an agent that is %j when its host goes, or the session that it was started for',
  async (quirk) => {
    const asked = scripted({ quirks: [quirk], later: handLater().later })
    const probing = asked.agent.probe()
    await until(() => asked.lines('started').length > 0)
    await asked.agent.close()
    void probing
    const all = await acpRoom({ quirks: [quirk], profile: { knobs: [] }, later: handLater().later })
    all.begin('say a')
    await until(() => all.agent.lines('started').length > 0)
    await all.ann.ask('disposeSession', { channel: session })
    const [pid = 0] = all.agent.lines('started').map(Number)
    await until(() => !isAlive(pid))
  },
  10_000,
)
