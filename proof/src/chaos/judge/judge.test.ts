import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Envelope } from '@atrium/protocol/channel'
import { expect, onTestFinished, test } from 'vitest'
import { Recorder, readRun, runsBelow, writeStored } from '../history.ts'
import type { History, Line, Run } from '../history.ts'
import { judge } from './judge.ts'

const session = 'ahp-session:/one'
const initial = { title: '', status: 1, lifecycle: 'ready', activeClients: [], chats: [] }
const title = (text: string) => ({ type: 'session/titleChanged', title: text })

/** An envelope of the session from a client. */
const envelope = (serverSeq: number, text: string, clientId: string, clientSeq: number): Envelope => ({
  channel: session,
  action: title(text),
  serverSeq,
  origin: { clientId, clientSeq },
})
const first = envelope(10, 'first', 'ann', 1)
const second = envelope(12, 'second', 'ben', 1)

/** Frames of a client's links. All clients share one counter as their clock. */
class HistoryBuilder {
  readonly lines: Line[] = []
  static now = 0
  link = 1

  out(method: string, params: object, id?: number): this {
    return this.#line('out', { id, method, params })
  }
  in(frame: object): this {
    return this.#line('in', frame)
  }
  receives(...envelopes: readonly Envelope[]): this {
    for (const params of envelopes) this.in({ method: 'action', params })
    return this
  }
  sends(clientSeq: number, text: string): this {
    return this.out('dispatchAction', { channel: session, clientSeq, action: title(text) })
  }
  shown(fromSeq: number, state: object, id: number): this {
    this.out('subscribe', { channel: session }, id)
    return this.in({ id, result: { snapshot: { resource: session, fromSeq, state } } })
  }
  cut(): this {
    this.lines.push({ at: ++HistoryBuilder.now, link: this.link++, way: 'shut' })
    return this
  }
  gone(): this {
    this.lines.push({ at: ++HistoryBuilder.now, link: this.link, way: 'gone', text: session })
    return this
  }
  #line(way: 'in' | 'out', frame: object): this {
    this.lines.push({ at: ++HistoryBuilder.now, link: this.link, way, text: JSON.stringify(frame) })
    return this
  }
}

/** Ann creates a session; she and Ben dispatch one action each; Ann's link breaks, and a replay brings what she missed. */
function exampleHistory() {
  const ann = new HistoryBuilder()
  const ben = new HistoryBuilder()
  ann.out('createSession', { channel: session }, 1).in({ id: 1, result: null }).shown(5, initial, 2)
  ben.shown(5, initial, 1)
  ann.sends(1, 'first')
  ben.receives(first).sends(1, 'second').receives(second)
  ann.receives(first).cut()
  ann.out('reconnect', { clientId: 'ann', lastSeenServerSeq: 10, subscriptions: [session] }, 3)
  ann.in({ id: 3, result: { type: 'replay', actions: [second], missing: [] } })
  return { ann, ben }
}

function run(
  { ann, ben }: { ann: HistoryBuilder; ben: HistoryBuilder },
  envelopes: readonly Envelope[] = [first, second],
  state: object = { ...initial, title: 'second' },
): Run {
  const histories: History[] = [
    { client: 'ann', lines: ann.lines },
    { client: 'ben', lines: ben.lines },
  ]
  const channel = { uri: session, kind: 'session', state, envelopes, birth: { seq: 3, state: initial } }
  return { name: 'example', histories, stored: { channels: [channel], damaged: [], sessions: [session] } }
}

const rules = (of: Run) => [...new Set(judge(of).violations.map(({ rule }) => rule))]

test('[B10] a correct history has no violation, and everything in it is counted', () => {
  expect(judge(run(exampleHistory()))).toEqual({ violations: [], histories: 2, envelopes: 6 })
})

test('[B10] an action that changed nothing, or was rejected, need not be stored', () => {
  const { ann, ben } = exampleHistory()
  ben.sends(2, 'second').receives(envelope(13, 'second', 'ben', 2))
  ben.sends(3, 'third').receives({ ...envelope(14, 'third', 'ben', 3), rejectionReason: 'no' })
  expect(judge(run({ ann, ben })).violations).toEqual([])
})

test('[B10] [B27] I1: an echo that is not in the log', () => {
  const { ann, ben } = exampleHistory()
  expect(rules(run({ ann, ben }, [first], { ...initial, title: 'first' }))).toContain('I1')
})

test('[B10] I1: a created session that does not exist, and a disposed one that does', () => {
  const made = run(exampleHistory())
  expect(rules({ ...made, stored: { ...made.stored, sessions: [] } })).toContain('I1')
  const { ann, ben } = exampleHistory()
  ann.out('disposeSession', { channel: session }, 9).in({ id: 9, result: null })
  expect(rules(run({ ann, ben }))).toEqual(['I1'])
})

test('[B10] I1: "already accepted as" a number that the log does not have', () => {
  const { ann, ben } = exampleHistory()
  ben
    .sends(2, 'third')
    .receives({ ...envelope(14, 'third', 'ben', 2), rejectionReason: 'already accepted as 13' })
  expect(rules(run({ ann, ben }))).toEqual(['I1'])
})

test('[B10] [B27] I2: a number with two meanings, for two clients or on the disk', () => {
  const { ann, ben } = exampleHistory()
  const stored = [first, envelope(12, 'other', 'ben', 1)]
  expect(rules(run({ ann, ben }, stored, { ...initial, title: 'other' }))).toContain('I2')
})

test('[B10] I2: numbers that fall', () => {
  const { ann, ben } = exampleHistory()
  ben.receives(second)
  expect(rules(run({ ann, ben }))).toEqual(['I2'])
})

test('[B10] I2: a gap in a subscribed channel, live and in a replay', () => {
  const third = envelope(15, 'third', 'ben', 2)
  const state = { ...initial, title: 'third' }
  const live = exampleHistory()
  live.ben.sends(2, 'third').receives(third)
  live.ann.receives(third)
  expect(judge(run(live, [first, second, third], state)).violations).toEqual([])
  const unseen = envelope(14, 'unseen', 'ben', 3)
  const gap = exampleHistory()
  gap.ben.sends(3, 'unseen').sends(2, 'third').receives(third)
  gap.ann.receives(third)
  const found = judge(run(gap, [first, second, unseen, third], state)).violations
  expect(found.filter(({ rule }) => rule === 'I2').map(({ client }) => client)).toEqual(['ann', 'ben'])
})

test('[B10] I2: a client’s own actions out of order', () => {
  const { ann, ben } = exampleHistory()
  const later = [envelope(14, 'b', 'ben', 3), envelope(15, 'a', 'ben', 2)]
  ben
    .sends(2, 'a')
    .sends(3, 'b')
    .receives(...later)
  ann.receives(...later)
  expect(rules(run({ ann, ben }, [first, second, ...later], { ...initial, title: 'a' }))).toEqual(['I2'])
})

test('[B10] I3: a snapshot of a state that never existed, and a head that differs from its log', () => {
  const { ann, ben } = exampleHistory()
  ben.shown(12, { ...initial, title: 'never' }, 9)
  expect(rules(run({ ann, ben }))).toEqual(['I3'])
  expect(rules(run(exampleHistory(), [first, second], { ...initial, title: 'first' }))).toEqual(['I3'])
})

test('[B10] I3: fields that no action can change are not compared', () => {
  const { ann, ben } = exampleHistory()
  ben.shown(12, { ...initial, title: 'second', project: { uri: 'file:///', displayName: 'p' } }, 9)
  expect(judge(run({ ann, ben })).violations).toEqual([])
  // The status is reduced like any other field.
  ben.shown(12, { ...initial, title: 'second', status: 8 }, 9)
  expect(rules(run({ ann, ben }))).toContain('I3')
})

test('[B10] I3: a session list that differs from the log', () => {
  const made = run(exampleHistory())
  const sessions = [session, 'ahp-session:/two']
  expect(rules({ ...made, stored: { ...made.stored, sessions } })).toEqual(['I3'])
})

test('[B10] I5: an action without an outcome, with two outcomes, or dropped for a channel that exists', () => {
  const never = exampleHistory()
  never.ben.sends(2, 'third')
  expect(rules(run(never))).toEqual(['I5'])
  never.ben.gone()
  expect(rules(run(never))).toEqual(['I5'])
  const twice = exampleHistory()
  twice.ben.receives({ ...envelope(14, 'second', 'ben', 1), rejectionReason: 'no' })
  expect(rules(run(twice))).toEqual(['I5'])
})

test('[B10] I5: an action on a session whose creation was refused for now is sent again with another number', () => {
  const { ann, ben } = exampleHistory()
  const channel = 'ahp-session:/later'
  const action = title('early')
  ann.out('createSession', { channel }, 7).out('dispatchAction', { channel, clientSeq: 2, action })
  expect(rules(run({ ann, ben }))).toEqual(['I5'])
  ann.in({ id: 7, error: { code: -32004, message: 'the disk is full' } })
  expect(rules(run({ ann, ben }))).toEqual([])
})

test('[B10] I6: an action applied twice', () => {
  const { ann, ben } = exampleHistory()
  const again = envelope(15, 'second', 'ben', 1)
  expect(rules(run({ ann, ben }, [first, second, again]))).toEqual(['I6'])
})

test('[B10] [I8] an older state after a newer one', () => {
  const { ann, ben } = exampleHistory()
  ben.cut().shown(10, { ...initial, title: 'first' }, 9)
  expect(rules(run({ ann, ben }))).toContain('I8')
})

test('[B10] [I9] an action nobody sent, received before it was sent, or meant for another client', () => {
  const phantom = exampleHistory()
  phantom.ben.receives(envelope(14, 'boo', 'cid', 1))
  expect(
    rules(run(phantom, [first, second, envelope(14, 'boo', 'cid', 1)], { ...initial, title: 'boo' })),
  ).toEqual(['I9'])
  const early = exampleHistory()
  early.ben.receives(envelope(14, 'x', 'ann', 2))
  early.ann.sends(2, 'x').receives(envelope(14, 'x', 'ann', 2))
  expect(rules(run(early, [first, second, envelope(14, 'x', 'ann', 2)], { ...initial, title: 'x' }))).toEqual(
    ['I9'],
  )
  const refusal = exampleHistory()
  refusal.ann.sends(2, 'x').receives({ ...envelope(14, 'x', 'ann', 2), rejectionReason: 'no' })
  refusal.ben.receives({ ...envelope(14, 'x', 'ann', 2), rejectionReason: 'no' })
  expect(rules(run(refusal))).toEqual(['I9'])
})

test('[B10] R3: a frame that is not JSON', () => {
  const { ann, ben } = exampleHistory()
  ben.lines.push({ at: ++HistoryBuilder.now, link: 1, way: 'in', text: '{"fromSeq":NaN}' })
  expect(rules(run({ ann, ben }))).toEqual(['R3'])
})

test('[B10] a loss that the test caused on the disk is excused, a later one is not', () => {
  const { ann, ben } = exampleHistory()
  const made = run({ ann, ben }, [first], { ...initial, title: 'first' })
  const torn = { ...made, stored: { ...made.stored, torn: HistoryBuilder.now + 0.5 } }
  expect(judge(torn).violations).toEqual([])
  ben.cut().shown(20, { ...initial, title: 'second' }, 9)
  expect(rules(torn)).toEqual(['I3'])
})

test('[B10] a channel reported as missing must be gone, unless the disk was made to lose its end', () => {
  const { ann, ben } = exampleHistory()
  const changed = { type: 'root/configChanged', config: {} }
  const elsewhere: Envelope = { channel: 'ahp-root://', action: changed, serverSeq: 20 }
  ann.out('subscribe', { channel: 'ahp-root://' }, 8)
  ann.in({ id: 8, result: { snapshot: { resource: 'ahp-root://', fromSeq: 12, state: {} } } }).cut()
  const subscriptions = ['ahp-root://', session]
  ann.out('reconnect', { clientId: 'ann', lastSeenServerSeq: 12, subscriptions }, 9)
  ann.in({ id: 9, result: { type: 'replay', actions: [elsewhere], missing: [session] } })
  // The disk was set back to an older state, and the session exists again. The host could not tell Ann what she had missed.
  const unseen = envelope(15, 'third', 'ben', 2)
  ben.sends(2, 'third').receives(unseen)
  const made = run({ ann, ben }, [first, second, unseen], { ...initial, title: 'third' })
  expect(judge({ ...made, stored: { ...made.stored, torn: HistoryBuilder.now + 0.5 } }).violations).toEqual(
    [],
  )
  expect(judge(made).violations).toContainEqual({
    rule: 'I2',
    client: 'ann',
    sentence: `was told that ${session} is missing, but it exists`,
  })
})

test('[B11] a history is written as it happens, and can be judged again from its folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-judge-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const example = run(exampleHistory())
  for (const { client, lines } of example.histories) {
    const recorder = new Recorder(join(folder, 'example'), client)
    for (const { link, way, text } of lines) recorder.write(link, way, text)
    recorder.flush()
  }
  writeStored(join(folder, 'example'), example.stored)
  expect(runsBelow(folder)).toEqual([join(folder, 'example')])
  expect(judge(readRun(join(folder, 'example'))).histories).toBe(2)
  expect(readRun(join(folder, 'example')).histories.map(({ lines }) => lines.length)).toEqual(
    example.histories.map(({ lines }) => lines.length),
  )
})
