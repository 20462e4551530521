import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Envelope } from '@atrium/protocol/channel'
import { expect, onTestFinished, test } from 'vitest'
import { Recorder, readRun, runsBelow, writeStored } from '../history.ts'
import type { History, Line, Run } from '../history.ts'
import { judge } from './judge.ts'

const session = 'ahp-session:/one'
const born = { title: '', status: 1, lifecycle: 'ready', activeClients: [], chats: [] }
const title = (text: string) => ({ type: 'session/titleChanged', title: text })

/** An envelope of the session, said by a client. */
const said = (serverSeq: number, text: string, clientId: string, clientSeq: number): Envelope => ({
  channel: session,
  action: title(text),
  serverSeq,
  origin: { clientId, clientSeq },
})
const first = said(10, 'first', 'ann', 1)
const second = said(12, 'second', 'ben', 1)

/** Frames of a client's links, in the order of all: each gets the next moment. */
class Story {
  readonly lines: Line[] = []
  static now = 0
  link = 1

  out(method: string, params: object, id?: number): this {
    return this.#line('out', { id, method, params })
  }
  in(frame: object): this {
    return this.#line('in', frame)
  }
  told(...envelopes: readonly Envelope[]): this {
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
    this.lines.push({ at: ++Story.now, link: this.link++, way: 'shut' })
    return this
  }
  gone(): this {
    this.lines.push({ at: ++Story.now, link: this.link, way: 'gone', text: session })
    return this
  }
  #line(way: 'in' | 'out', frame: object): this {
    this.lines.push({ at: ++Story.now, link: this.link, way, text: JSON.stringify(frame) })
    return this
  }
}

/** Ann creates a session; she and Ben say one thing each; Ann's link breaks and she is told what she missed. */
function tale() {
  const ann = new Story()
  const ben = new Story()
  ann.out('createSession', { channel: session }, 1).in({ id: 1, result: null }).shown(5, born, 2)
  ben.shown(5, born, 1)
  ann.sends(1, 'first')
  ben.told(first).sends(1, 'second').told(second)
  ann.told(first).cut()
  ann.out('reconnect', { clientId: 'ann', lastSeenServerSeq: 10, subscriptions: [session] }, 3)
  ann.in({ id: 3, result: { type: 'replay', actions: [second], missing: [] } })
  return { ann, ben }
}

function run(
  { ann, ben }: { ann: Story; ben: Story },
  envelopes: readonly Envelope[] = [first, second],
  state: object = { ...born, title: 'second' },
): Run {
  const histories: History[] = [
    { client: 'ann', lines: ann.lines },
    { client: 'ben', lines: ben.lines },
  ]
  const channel = { uri: session, kind: 'session', state, envelopes, birth: { seq: 3, state: born } }
  return { name: 'tale', histories, stored: { channels: [channel], damaged: [], sessions: [session] } }
}

const rules = (told: Run) => [...new Set(judge(told).violations.map(({ rule }) => rule))]

test('[B10] an honest history is found honest, and everything in it is counted', () => {
  expect(judge(run(tale()))).toEqual({ violations: [], histories: 2, envelopes: 6 })
})

test('[B10] what changed nothing is told to its sender and need not be kept; nor is a refusal', () => {
  const { ann, ben } = tale()
  ben.sends(2, 'second').told(said(13, 'second', 'ben', 2))
  ben.sends(3, 'third').told({ ...said(14, 'third', 'ben', 3), rejectionReason: 'no' })
  expect(judge(run({ ann, ben })).violations).toEqual([])
})

test('[B10] I1: an echo that is not in the log', () => {
  const { ann, ben } = tale()
  expect(rules(run({ ann, ben }, [first], { ...born, title: 'first' }))).toContain('I1')
})

test('[B10] I1: a created session that is not there, and one that was disposed of and is', () => {
  const made = run(tale())
  expect(rules({ ...made, stored: { ...made.stored, sessions: [] } })).toContain('I1')
  const { ann, ben } = tale()
  ann.out('disposeSession', { channel: session }, 9).in({ id: 9, result: null })
  expect(rules(run({ ann, ben }))).toEqual(['I1'])
})

test('[B10] I1: "already accepted as" a number that the log does not have', () => {
  const { ann, ben } = tale()
  ben.sends(2, 'third').told({ ...said(14, 'third', 'ben', 2), rejectionReason: 'already accepted as 13' })
  expect(rules(run({ ann, ben }))).toEqual(['I1'])
})

test('[B10] I2: a number with two meanings, in the eyes of two or on the disk', () => {
  const { ann, ben } = tale()
  const stored = [first, said(12, 'other', 'ben', 1)]
  expect(rules(run({ ann, ben }, stored, { ...born, title: 'other' }))).toContain('I2')
})

test('[B10] I2: numbers that fall', () => {
  const { ann, ben } = tale()
  ben.told(second)
  expect(rules(run({ ann, ben }))).toEqual(['I2'])
})

test('[B10] I2: a gap among what is followed, live and in a replay', () => {
  const third = said(15, 'third', 'ben', 2)
  const state = { ...born, title: 'third' }
  const live = tale()
  live.ben.sends(2, 'third').told(third)
  live.ann.told(third)
  expect(judge(run(live, [first, second, third], state)).violations).toEqual([])
  const unseen = said(14, 'unseen', 'ben', 3)
  const gap = tale()
  gap.ben.sends(3, 'unseen').sends(2, 'third').told(third)
  gap.ann.told(third)
  const found = judge(run(gap, [first, second, unseen, third], state)).violations
  expect(found.filter(({ rule }) => rule === 'I2').map(({ client }) => client)).toEqual(['ann', 'ben'])
})

test('[B10] I2: one’s own, out of order', () => {
  const { ann, ben } = tale()
  const later = [said(14, 'b', 'ben', 3), said(15, 'a', 'ben', 2)]
  ben
    .sends(2, 'a')
    .sends(3, 'b')
    .told(...later)
  ann.told(...later)
  expect(rules(run({ ann, ben }, [first, second, ...later], { ...born, title: 'a' }))).toEqual(['I2'])
})

test('[B10] I3: a snapshot in a state that never was, and a head that does not fit its log', () => {
  const { ann, ben } = tale()
  ben.shown(12, { ...born, title: 'never' }, 9)
  expect(rules(run({ ann, ben }))).toEqual(['I3'])
  expect(rules(run(tale(), [first, second], { ...born, title: 'first' }))).toEqual(['I3'])
})

test('[B10] I3: what no action can change is not compared', () => {
  const { ann, ben } = tale()
  ben.shown(12, { ...born, title: 'second', status: 8, project: { uri: 'file:///', displayName: 'p' } }, 9)
  expect(judge(run({ ann, ben })).violations).toEqual([])
})

test('[B10] I3: a list that is not what the log says', () => {
  const made = run(tale())
  const sessions = [session, 'ahp-session:/two']
  expect(rules({ ...made, stored: { ...made.stored, sessions } })).toEqual(['I3'])
})

test('[B10] I5: an action that never ended, that ended twice, or was given up for a channel that is there', () => {
  const never = tale()
  never.ben.sends(2, 'third')
  expect(rules(run(never))).toEqual(['I5'])
  never.ben.gone()
  expect(rules(run(never))).toEqual(['I5'])
  const twice = tale()
  twice.ben.told({ ...said(14, 'second', 'ben', 1), rejectionReason: 'no' })
  expect(rules(run(twice))).toEqual(['I5'])
})

test('[B10] I6: applied twice', () => {
  const { ann, ben } = tale()
  const again = said(15, 'second', 'ben', 1)
  expect(rules(run({ ann, ben }, [first, second, again]))).toEqual(['I6'])
})

test('[B10] I8: an older state after a newer one', () => {
  const { ann, ben } = tale()
  ben.cut().shown(10, { ...born, title: 'first' }, 9)
  expect(rules(run({ ann, ben }))).toContain('I8')
})

test('[B10] I9: nobody said it; not before it was said; not for this one’s ears', () => {
  const phantom = tale()
  phantom.ben.told(said(14, 'boo', 'cid', 1))
  expect(rules(run(phantom, [first, second, said(14, 'boo', 'cid', 1)], { ...born, title: 'boo' }))).toEqual([
    'I9',
  ])
  const early = tale()
  early.ben.told(said(14, 'x', 'ann', 2))
  early.ann.sends(2, 'x').told(said(14, 'x', 'ann', 2))
  expect(rules(run(early, [first, second, said(14, 'x', 'ann', 2)], { ...born, title: 'x' }))).toEqual(['I9'])
  const refusal = tale()
  refusal.ann.sends(2, 'x').told({ ...said(14, 'x', 'ann', 2), rejectionReason: 'no' })
  refusal.ben.told({ ...said(14, 'x', 'ann', 2), rejectionReason: 'no' })
  expect(rules(run(refusal))).toEqual(['I9'])
})

test('[B10] R3: what is no JSON at all', () => {
  const { ann, ben } = tale()
  ben.lines.push({ at: ++Story.now, link: 1, way: 'in', text: '{"fromSeq":NaN}' })
  expect(rules(run({ ann, ben }))).toEqual(['R3'])
})

test('[B10] what the disk was made to lose is excused, what came after is not', () => {
  const { ann, ben } = tale()
  const made = run({ ann, ben }, [first], { ...born, title: 'first' })
  const torn = { ...made, stored: { ...made.stored, torn: Story.now + 0.5 } }
  expect(judge(torn).violations).toEqual([])
  ben.cut().shown(20, { ...born, title: 'second' }, 9)
  expect(rules(torn)).toEqual(['I3'])
})

test('[B10] what is called missing must be gone, unless the disk was made to forget that it went', () => {
  const { ann, ben } = tale()
  const changed = { type: 'root/configChanged', config: {} }
  const elsewhere: Envelope = { channel: 'ahp-root://', action: changed, serverSeq: 20 }
  ann.out('subscribe', { channel: 'ahp-root://' }, 8)
  ann.in({ id: 8, result: { snapshot: { resource: 'ahp-root://', fromSeq: 12, state: {} } } }).cut()
  const subscriptions = ['ahp-root://', session]
  ann.out('reconnect', { clientId: 'ann', lastSeenServerSeq: 12, subscriptions }, 9)
  ann.in({ id: 9, result: { type: 'replay', actions: [elsewhere], missing: [session] } })
  // The session came back with the disk's older self: what Ann was not told of it she could not be told.
  const unseen = said(15, 'third', 'ben', 2)
  ben.sends(2, 'third').told(unseen)
  const made = run({ ann, ben }, [first, second, unseen], { ...born, title: 'third' })
  expect(judge({ ...made, stored: { ...made.stored, torn: Story.now + 0.5 } }).violations).toEqual([])
  expect(judge(made).violations).toContainEqual({
    rule: 'I2',
    client: 'ann',
    sentence: `was told that ${session} is missing, and it is there`,
  })
})

test('[B11] a history is written as it happens, and judged again from its folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-judge-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const told = run(tale())
  for (const { client, lines } of told.histories) {
    const recorder = new Recorder(join(folder, 'tale'), client)
    for (const { link, way, text } of lines) recorder.write(link, way, text)
    recorder.flush()
  }
  writeStored(join(folder, 'tale'), told.stored)
  expect(runsBelow(folder)).toEqual([join(folder, 'tale')])
  expect(judge(readRun(join(folder, 'tale'))).histories).toBe(2)
  expect(readRun(join(folder, 'tale')).histories.map(({ lines }) => lines.length)).toEqual(
    told.histories.map(({ lines }) => lines.length),
  )
})
