import type { Action, Envelope } from '@atrium/protocol/channel'
import type { PastPage, PastState, Unfinished } from '@atrium/protocol/root/past'
import { kindOf } from '../../src/kernel/log/channel.ts'
import { chat } from '../one-client-session.ts'
import type { Client } from '../test-host.ts'

/** The answer to one call of `x-atrium/stateAt`. */
export function askState(
  client: Client,
  seq: unknown,
  more: object = {},
): Promise<PastState<object> & Partial<Unfinished>> {
  // A host of the same build answers with this shape.
  return client.peer.request('x-atrium/stateAt', { channel: chat, seq, ...more }) as Promise<
    PastState<object> & Partial<Unfinished>
  >
}

/** The answer to one call of `x-atrium/envelopes`. */
export function askEnvelopes(client: Client, params: object = {}): Promise<PastPage & Partial<Unfinished>> {
  // A host of the same build answers with this shape.
  return client.peer.request('x-atrium/envelopes', { channel: chat, ...params }) as Promise<
    PastPage & Partial<Unfinished>
  >
}

/** All envelopes of a channel, page by page, with the last page. */
export async function pages(
  client: Client,
  params: object = {},
): Promise<PastPage & { readonly count: number }> {
  const envelopes: Envelope[] = []
  const gaps: PastPage['gaps'][number][] = []
  for (let count = 1; ; count++) {
    const page = await askEnvelopes(client, { ...params, position: envelopes.length + 1 })
    if (page.position !== envelopes.length + 1) throw new Error('a page begins at another position')
    envelopes.push(...page.envelopes)
    gaps.push(...page.gaps)
    if (!page.more) return { ...page, envelopes, gaps, position: 1, count }
  }
}

/** The state of a chat after some envelopes. A gap before an envelope is bridged by the host's state after it. */
export async function folded(
  client: Client,
  from: { readonly begins: number },
  envelopes: readonly Envelope[],
  gaps: PastPage['gaps'],
): Promise<unknown> {
  const after = new Set(gaps.map(({ before }) => before))
  const stateOf = async (seq: number) => (await askState(client, seq, { turns: 1000 })).snapshot?.state
  let state: unknown = await stateOf(from.begins)
  for (const { serverSeq, action } of envelopes)
    state = after.has(serverSeq) ? await stateOf(serverSeq) : reduced(state, action)
  return state
}

function reduced(state: unknown, action: Action): unknown {
  return kindOf('chat').reduce(state, action)
}
