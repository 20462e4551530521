import type { Envelope } from '@atrium/protocol/channel'

/** A broken rule, the client that saw it, and the envelope concerned. */
export interface Violation {
  /** The rule's id in the spec. */
  readonly rule: 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I8' | 'I9' | 'I17' | 'I18' | 'R3'
  readonly client?: string
  readonly sentence: string
  readonly envelope?: Envelope
}

export function describe({ rule, client, sentence, envelope }: Violation): string {
  const who = client === undefined ? '' : ` [${client}]`
  return `${rule}${who} ${sentence}${envelope ? `\n    ${JSON.stringify(envelope)}` : ''}`
}
