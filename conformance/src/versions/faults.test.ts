import type { Version } from '@atrium/protocol/versions/negotiate'
import { listOf, omit, shapeOf } from '@atrium/protocol/versions/shape'
import { describe, expect, test } from 'vitest'
import { guidePrompts } from '../../test/guided-host.ts'
import {
  inActions,
  inEnvelopes,
  inResults,
  startWrongWords,
  withoutNotification,
  withoutParam,
} from '../../test/wrong-words.ts'
import type { Fault } from '../../test/wrong-words.ts'
import { connect, features, runMatrix } from './matrix.ts'

interface Case {
  /** The rows to run. The last one must find the fault. */
  readonly rows: readonly string[]
  readonly version: Version
  readonly fault: Fault
  /** What the reason says. */
  readonly says: string
}

const cases: readonly Case[] = [
  {
    rows: [connect],
    version: '0.4.0',
    fault: inResults((result) =>
      'protocolVersion' in result ? { ...result, protocolVersion: '0.9.0' } : result,
    ),
    says: 'expected protocolVersion 0.4.0',
  },
  {
    rows: [connect],
    version: '0.3.0',
    fault: inResults((result) => ('items' in result ? { items: [] } : result)),
    says: 'in the list',
  },
  {
    rows: ['create'],
    version: '0.1.0',
    fault: withoutNotification('sessionAdded'),
    says: 'expected the announcement of the new session',
  },
  {
    rows: ['create'],
    version: '0.8.0',
    fault: withoutParam('createSession', 'channel'),
    says: 'expected a result of createSession; got error',
  },
  {
    rows: ['prompt'],
    version: '0.6.0',
    fault: inActions('delta', (action) => ({ ...action, content: 'something else' })),
    says: 'expected the answer of the turn',
  },
  {
    rows: ['approve'],
    version: '0.1.0',
    fault: inActions('toolCallConfirmed', (action) => ({ ...action, confirmed: 'setting' })),
    says: 'expected the tool call: {"confirmed":"user-action"',
  },
  {
    rows: ['answer'],
    version: '0.5.2',
    fault: inActions('inputCompleted', (action) => ({ ...action, response: 'decline' })),
    says: 'expected the response to the questions: accept; got decline',
  },
  {
    rows: ['queue'],
    version: '0.3.0',
    fault: inActions('queuedMessagesReordered', (action) => ({
      ...action,
      order: listOf(action, 'order').toReversed(),
    })),
    says: 'expected 2 queued messages in their order',
  },
  {
    rows: ['steer'],
    version: '0.4.0',
    fault: inActions('pendingMessageSet', (action) => omit(action, 'message')),
    says: 'expected the steering message',
  },
  {
    rows: ['cancel'],
    version: '0.5.2',
    fault: inActions('turnCancelled', (action) => ({
      ...action,
      type: String(action['type']).replace('turnCancelled', 'turnComplete'),
    })),
    says: 'expected the state of the turn: ',
  },
  {
    rows: ['rename'],
    version: '0.1.0',
    fault: inActions('titleChanged', (action) => ({ ...action, title: 'something else' })),
    says: 'expected the title "conformance ',
  },
  {
    rows: ['toggle'],
    version: '0.7.0',
    fault: inActions('customizationToggled', (action) => ({ ...action, enabled: !action['enabled'] })),
    says: 'expected the customization One disabled',
  },
  {
    rows: ['truncate'],
    version: '0.8.0',
    fault: inActions('truncated', (action) => omit(action, 'turnId')),
    says: 'expected the turns after the first one to be gone',
  },
  {
    rows: ['fork: session'],
    version: '0.3.0',
    fault: withoutParam('createSession', 'fork'),
    says: 'expected the text of the first turn',
  },
  {
    rows: ['fork: chat'],
    version: '0.9.0',
    fault: inActions('chatAdded', (action) => ({
      ...action,
      summary: omit(shapeOf(action['summary']), 'origin'),
    })),
    says: 'expected the forked chat in the session',
  },
  {
    rows: ['refusal'],
    version: '0.6.0',
    fault: inEnvelopes((envelope) => omit(envelope, 'rejectionReason')),
    says: 'expected a rejectionReason, because no turn is active',
  },
  {
    rows: ['refusal'],
    version: '0.1.0',
    fault: inEnvelopes((envelope) =>
      'rejectionReason' in envelope
        ? { ...envelope, action: omit(shapeOf(envelope['action']), 'session') }
        : envelope,
    ),
    says: 'expected the refused action',
  },
  {
    rows: ['create', 'dispose'],
    version: '0.9.0',
    fault: withoutNotification('sessionRemoved'),
    says: 'expected the announcement that the session is gone',
  },
  {
    rows: ['reconnect'],
    version: '0.7.0',
    fault: inResults((result) => (result['type'] === 'replay' ? { ...result, actions: [] } : result)),
    says: 'expected what was missed',
  },
  {
    rows: ['reconnect'],
    version: '1.0.0',
    fault: inResults((result) => {
      if (result['type'] !== 'replay') return result
      const isDelta = (envelope: unknown) => shapeOf(shapeOf(envelope)['action'])['type'] === 'chat/delta'
      return { ...result, actions: listOf(result, 'actions').filter((each) => !isDelta(each)) }
    }),
    says: 'expected the answer of the missed turn',
  },
  {
    rows: ['own dialect'],
    version: '0.1.0',
    fault: inEnvelopes((envelope) => ({ ...envelope, channel: 'agenthost:/root' })),
    says: 'expected an envelope of its version',
  },
  {
    rows: ['prompt', 'own dialect'],
    version: '0.9.0',
    fault: inActions('chatUpdated', (action) => ({ ...action, type: 'session/chatsReordered' })),
    says: 'expected an action of 0.9.0; got session/chatsReordered',
  },
  {
    rows: ['own dialect'],
    version: '0.4.0',
    fault: inResults((result) => ({
      ...result,
      ...('items' in result && {
        items: listOf(result, 'items').map((item) => ({
          ...shapeOf(item),
          createdAt: '2026-01-01T00:00:00.000Z',
        })),
      }),
    })),
    says: 'expected createdAt as a number',
  },
  {
    rows: ['prompt', 'same state'],
    version: '0.5.2',
    fault: inActions('chatUpdated', (action) => ({
      ...action,
      changes: { ...shapeOf(action['changes']), title: 'something else' },
    })),
    says: 'as a new subscriber gets it',
  },
]

/** A row waits this long only for what a fault has lost or changed. All faults wait at the same time. */
const timeoutMs = 15_000

describe.concurrent('[C17] [C16.1] [C16.5] a fault in one version', () => {
  test.each(cases.map((each) => [each.rows.at(-1), each.version, each.says, each] as const))(
    'is found by the row %s at %s: %s',
    async (row, version, says, { rows, fault }) => {
      const { url, close } = await startWrongWords(version, fault)
      try {
        const versions: readonly Version[] = version === '1.0.0' ? ['0.9.0', '1.0.0'] : [version, '1.0.0']
        const target = { url, timeoutMs }
        const { cells } = await runMatrix(target, { ...guidePrompts, versions, features: rows })
        const failed = cells.filter(({ outcome }) => outcome === 'failed')
        expect(failed.map((cell) => [cell.feature, cell.version, cell.reasons])).toEqual([
          [row, version, expect.arrayContaining([expect.stringContaining(says)])],
        ])
      } finally {
        await close()
      }
    },
  )

  test('there is a fault for every row', () => {
    const found = new Set(cases.map(({ rows }) => rows.at(-1)))
    expect([connect, ...features.map(({ name }) => name)].filter((name) => !found.has(name))).toEqual([])
  })
})
