import type { Envelope } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { KindName } from '@atrium/protocol/reducers'
import { commands, notifications } from '@atrium/protocol/commands'
import { errorCodes } from '@atrium/protocol/errors'
import { checkAction } from '@atrium/protocol/kind'
import { defaultLimits, frameProblem } from '@atrium/protocol/rpc/frame-check'
import { decode } from '@atrium/protocol/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { definitions, mutated, odd, valueOf } from '../../../protocol/test/arbitrary.ts'
import { actionOf, createEveryKind, everything, kindNames, uriOf } from '../../test/every-kind.ts'
import { testHost } from '../../test/test-host.ts'
import type { TestHost } from '../../test/test-host.ts'
import { methods } from '../../test/commands/methods.ts'

interface Message {
  readonly jsonrpc: unknown
  readonly id?: unknown
  readonly method: unknown
  readonly params: unknown
}

const kindName: fc.Arbitrary<KindName> = fc.constantFrom(...kindNames)
const channel = fc.oneof(kindName.map(uriOf), fc.constantFrom('ahp-session:/new', 'ahp-session:/other'))

/** Every message that a client may send. The messages are valid, and most of them are about channels that exist. */
const method = fc.oneof(fc.constantFrom(...commands.keys()), fc.constantFrom(...methods))
const request: fc.Arbitrary<Message> = method.chain((name) =>
  fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.nat(),
    method: fc.constant(name),
    params: fc
      .tuple(valueOf(`${name.charAt(0).toUpperCase()}${name.slice(1)}Params`), channel)
      .map(([params, uri]) => ({ ...(params as object), channel: uri })),
  }),
)

const dispatched: fc.Arbitrary<Message> = kindName.chain((kind) => {
  const types = [...kinds[kind].dispatchable, ...kinds[kind].actions.keys()]
  const action = fc.constantFrom(...types).chain(actionOf)
  return fc.record({
    jsonrpc: fc.constant('2.0'),
    method: fc.constant('dispatchAction'),
    params: fc.record({ channel: fc.constant(uriOf(kind)), clientSeq: fc.nat(), action }),
  })
})

const left: fc.Arbitrary<Message> = channel.map((uri) => ({
  jsonrpc: '2.0',
  method: 'unsubscribe',
  params: { channel: uri },
}))

const message = fc.oneof({ weight: 2, arbitrary: request }, { weight: 3, arbitrary: dispatched }, left)

/**
 * JSON text that is hard to handle, or invalid. Most of it JSON.stringify never writes, so it replaces a mark in the text of
 * a message.
 */
const tokens = [
  'NaN',
  'Infinity',
  '-Infinity',
  'undefined',
  '1e999',
  '-1e999',
  '-0',
  '-0.0',
  '0.5',
  '9007199254740993',
  '1e400',
  `1${'0'.repeat(400)}`,
  '"NaN"',
  '"\\u0000"',
  '"\\ud800"',
  '"\\u202e"',
  '"\\u0000__proto__"',
  '{"__proto__":{"polluted":true}}',
  '{"\\u005f_proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"a":1,"a":{"a":2}}',
  `${'['.repeat(60)}${']'.repeat(60)}`,
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
  `"${'x'.repeat(100_000)}"`,
  `[${'0,'.repeat(50_000)}0]`,
]
const mark = '@ token @'
const frame = message.chain((valid) =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant(JSON.stringify(valid)) },
    { weight: 3, arbitrary: mutated(valid, odd).map((mutant) => JSON.stringify(mutant) ?? 'undefined') },
    {
      weight: 3,
      arbitrary: fc
        .tuple(mutated(valid, fc.constant(mark)), fc.constantFrom(...tokens))
        .map(([mutant, token]) => (JSON.stringify(mutant) ?? mark).replace(`"${mark}"`, () => token)),
    },
  ),
)

interface Answer {
  readonly id?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly method?: string
  readonly params?: Envelope
}

/** Opens a link, sends the frame and then a request, and returns everything that comes back. */
async function answersTo(
  all: TestHost,
  text: string,
): Promise<{ answers: readonly Answer[]; ended: boolean }> {
  const [, far] = all.wire()
  const answers: Answer[] = []
  far.receive((given) => answers.push(JSON.parse(given) as Answer))
  const ask = (id: string, method: string, params: object) =>
    far.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  ask('open', 'initialize', { protocolVersions: ['1.0.0'], clientId: 'fuzz' })
  far.send(text)
  ask('behind', 'listSessions', { limit: 1 })
  const done = () => far.closed.aborted || answers.some(({ id }) => id === 'behind')
  while (!done()) await new Promise<void>((resolve) => setImmediate(resolve))
  await all.core().log.settled()
  await new Promise<void>((resolve) => setImmediate(resolve))
  const ended = far.closed.aborted
  far.close()
  return { answers: answers.filter(({ id }) => id !== 'open' && id !== 'behind'), ended }
}

/** Checks that an accepted action matches the schema of its type, and that clients may dispatch it. */
function sound({ channel: uri, action }: Envelope): boolean {
  const kind = kindNames.find((name) => uriOf(name) === uri) ?? 'session'
  return kinds[kind].dispatchable.has(action.type) && checkAction(kinds[kind], action).ok
}

const fine = new Set<number>(Object.values(errorCodes).filter((code) => code !== errorCodes.InternalError))

test('every message has a definition, and every mark is used', () => {
  for (const method of commands.keys())
    expect(definitions).toHaveProperty(`${method.charAt(0).toUpperCase()}${method.slice(1)}Params`)
  expect([...notifications].filter(([, { from }]) => from === 'client').map(([method]) => method)).toEqual([
    'unsubscribe',
    'dispatchAction',
  ])
})

describe('[R9] [S-15] [S-18] [S-19] a message with one fault, sent to a host', () => {
  test('[R9.1] [R9.2] [R9.4] is answered or refused, changes nothing unless it was accepted, and closes no link', async () => {
    const all = await testHost()
    createEveryKind(all.core())
    await all.core().log.settled()
    const outcomes = { accepted: 0, refused: 0, failed: 0, answered: 0, ended: 0 }
    await fc.assert(
      fc.asyncProperty(frame, async (text) => {
        const before = everything(all.core())
        const { answers, ended } = await answersTo(all, text)
        const after = everything(all.core())
        expect(ended).toBe(frameProblem(text, defaultLimits) !== undefined)
        const own = answers.filter(
          ({ method, params }) => method === 'action' && params?.origin?.clientId === 'fuzz',
        )
        const accepted = own.some(({ params }) => params?.rejectionReason === undefined)
        const answered = answers.some(({ method, error }) => method === undefined && error === undefined)
        if (!accepted && !answered) expect(after).toBe(before)
        for (const { error } of answers) if (error) expect(fine.has(error.code), error.message).toBe(true)
        for (const { params: envelope } of own)
          if (envelope && envelope.rejectionReason === undefined) expect(sound(envelope)).toBe(true)
        // Each state matches its schema and equals its own JSON. So the stored state is the state that clients are shown.
        for (const kind of after === before ? [] : kindNames) {
          const head = all.core().log.channel(uriOf(kind))?.head
          if (head === undefined) continue
          expect(decode<unknown>(kinds[kind].state, head)).toMatchObject({ ok: true })
          expect(JSON.parse(JSON.stringify(head))).toEqual(head)
        }
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
        outcomes.ended += Number(ended)
        outcomes.accepted += Number(accepted)
        outcomes.answered += Number(answered)
        outcomes.refused += Number(own.some(({ params }) => params?.rejectionReason !== undefined))
        outcomes.failed += Number(answers.some(({ error }) => error !== undefined))
      }),
      // A failure is not shrunk: that takes longer than it helps, and the seed and the frame are enough.
      { numRuns: 1500, endOnFailure: true },
    )
    // All kinds of messages were tried.
    for (const count of Object.values(outcomes)) expect(count, JSON.stringify(outcomes)).toBeGreaterThan(0)
    const inside = all.world.reports.filter(({ event }) => event !== 'malformed notification')
    expect(
      inside
        .map(({ event, detail }) => `${event}: ${String(detail)}`)
        .filter((line) => !/LinkClosed|response to no pending request/.test(line)),
    ).toEqual([])
    // The disk has the states that were shown.
    const shown = everything(all.core())
    await all.core().log.settled()
    await all.restart('close')
    const ann = await all.join('ann', { subscribe: kindNames.map(uriOf) })
    expect(ann.states.size).toBeGreaterThan(5)
    const kept = JSON.parse(shown) as readonly [readonly unknown[]]
    for (const [i, kind] of kindNames.entries())
      // A restart may change these three: it ends the shells of terminals, and sessions go on with their work.
      if (kind !== 'root' && kind !== 'session' && kind !== 'terminal')
        expect(all.core().log.channel(uriOf(kind))?.head, kind).toEqual(kept[0][i])
  })
})
