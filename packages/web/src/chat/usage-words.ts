import type { UsageInfo } from '@atrium/protocol/common/content'
import { member } from './shared/member.ts'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** The tokens, the cost and the model of a turn as a text. Empty if its agent does not tell them. */
export function usageWords(usage: UsageInfo | undefined): string {
  if (!usage) return ''
  const { inputTokens, outputTokens, model } = usage
  return [tokenWords(inputTokens, outputTokens), costWords(usage._meta), model ?? '']
    .filter(Boolean)
    .join(' · ')
}

function tokenWords(input: number | undefined, output: number | undefined): string {
  if (input === undefined && output === undefined) return ''
  return `${compact.format(input ?? 0)} ${input === 1 ? 'token' : 'tokens'} in, ${compact.format(output ?? 0)} out`
}

/** The cost of a turn as a text. Empty if it is unknown: only the built-in agent tells the cost, in dollars. */
function costWords(meta: unknown): string {
  const cost = member(member(meta, 'x-atrium'), 'cost')
  return typeof cost === 'number' && cost > 0 ? `$${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}` : ''
}
