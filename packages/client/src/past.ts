import type {
  EnvelopesParams,
  PastPage,
  PastState,
  StateAtParams,
  Unfinished,
} from '@atrium/protocol/root/past'
import type { Client } from './client.ts'

// Calls about the past of a channel. AHP does not have them. Only a host whose `initialize` result lists the commands
// answers them; any other host answers with the error for unknown methods (-32601).

export type {
  EnvelopesParams as EnvelopesQuery,
  PastGap,
  PastPage,
  PastRange,
  PastState,
  StateAtParams as StateAtQuery,
} from '@atrium/protocol/root/past'

/** Called while the host reads a long log: how far it has come, and how far it must go, as sequence numbers. */
export type PastProgress = (reached: number, upTo: number) => void

/** Asks for the state of a session, a chat or the root channel after the last action up to a sequence number. */
export async function stateAt<S = unknown>(
  client: Client,
  query: StateAtParams,
  progress?: PastProgress,
): Promise<PastState<S>> {
  // The answer is not checked: its shape is that of the host which offers the command.
  return (await finished(client, 'x-atrium/stateAt', query, progress)) as PastState<S>
}

/** Asks for a page of the envelopes of a session, a chat or the root channel. */
export async function pastEnvelopes(
  client: Client,
  query: EnvelopesParams,
  progress?: PastProgress,
): Promise<PastPage> {
  return (await finished(client, 'x-atrium/envelopes', query, progress)) as PastPage
}

/** The number of calls after which a host that reads a long log counts as stuck. */
const mostCalls = 10_000

/** Repeats a call until the host has read the log. Each call reads a bounded part of it. */
async function finished(
  client: Client,
  method: string,
  params: object,
  progress: PastProgress | undefined,
): Promise<unknown> {
  for (let calls = 0; calls < mostCalls; calls++) {
    const answer = (await client.ask(method, params)) as Partial<Unfinished>
    if (!answer.unfinished) return answer
    progress?.(answer.unfinished.reached, answer.unfinished.upTo)
  }
  throw new Error(`${method}: the host did not finish within ${mostCalls} calls`)
}
