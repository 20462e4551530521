import type { UsageInfo } from '@atrium/protocol/common/content'
import { member } from './shared/member.ts'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** What a turn has used, in a few words. Empty if its agent does not tell. */
export function usageWords(usage: UsageInfo | undefined): string {
  if (!usage) return ''
  const { inputTokens, outputTokens, model } = usage
  return [tokenWords(inputTokens, outputTokens), costWords(usage._meta), model ?? '']
    .filter(Boolean)
    .join(' · ')
}

function tokenWords(input: number | undefined, output: number | undefined): string {
  if (input === undefined && output === undefined) return ''
  return `${compact.format(input ?? 0)} tokens in, ${compact.format(output ?? 0)} out`
}

/** The built-in agent tells the cost of each turn, in dollars. */
function costWords(meta: unknown): string {
  const cost = member(member(meta, 'x-atrium'), 'cost')
  return typeof cost === 'number' && cost > 0 ? `$${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}` : ''
}
