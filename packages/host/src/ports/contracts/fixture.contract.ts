import type { StoredEnvelope, Step } from '../log.ts'
import type { Store } from '../store.ts'

/** A new, empty store. `reopen` closes the store and opens it again, with what is durable, as the next start of a host would. */
export interface Opened {
  readonly store: Store
  readonly reopen: () => Promise<Store>
}

export const chat = 'ahp-chat:/1'
export const other = 'ahp-chat://default/ünï𝒳%_'

/** Makes a step that has only the given members; the others are empty. */
export function step(parts: Partial<Step>): Step {
  return { created: [], envelopes: [], rows: [], heads: [], dropped: [], upTo: 0, ...parts }
}

export function envelope(seq: number, channel = chat): StoredEnvelope {
  return { seq, channel, action: `{"type":"chat/delta","n":${seq}}` }
}

export const creation = (channel: string, seq: number) => ({
  channel,
  seq,
  kind: 'chat',
  state: `{"n":${seq}}`,
})

export const head = (seq: number, channel = chat) => ({ channel, seq, state: `{"n":${seq}}` })

export const row = (id: string, text?: string) => ({
  channel: chat,
  id,
  ...(text === undefined ? {} : { text }),
})

export const seqs = ({ envelopes }: { readonly envelopes: readonly StoredEnvelope[] }) =>
  envelopes.map(({ seq }) => seq)

export const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
