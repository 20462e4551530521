import type { ToolCallPendingConfirmation } from '@atrium/protocol/chat/tool'

/** A way to answer a tool that asks. */
export interface ToolChoice {
  readonly label: string
  readonly approved: boolean
  readonly optionId?: string
  /** Whether the answer also counts for later calls. */
  readonly lasts?: boolean
  /** Whether a person says why, before the answer is sent. */
  readonly why?: boolean
}

/** The ids of the options that count for later calls: those of the host (X3), and those of an agent (N41). */
const lasting = /^(?:atrium\.(?:session|folder)$|agent\.always)/
const whyOption = 'atrium.deny-why'

/** All answers that a call offers, the approving ones first. A call without options can be allowed or denied. */
export function choicesOf({ options = [] }: ToolCallPendingConfirmation): readonly ToolChoice[] {
  const offered = options.map(({ id, label, kind }): ToolChoice => ({
    label,
    approved: kind === 'approve',
    optionId: id,
    ...(lasting.test(id) && { lasts: true }),
    ...(id === whyOption && { why: true }),
  }))
  const basic = offered.length > 0 ? offered : [allow, deny]
  const all = basic.some(({ why }) => why) ? basic : [...basic, denyWhy]
  return [...all.filter(({ approved }) => approved), ...all.filter(({ approved }) => !approved)]
}

const allow: ToolChoice = { label: 'Allow', approved: true }
const deny: ToolChoice = { label: 'Deny', approved: false }
const denyWhy: ToolChoice = { label: 'Deny and say why', approved: false, why: true }
