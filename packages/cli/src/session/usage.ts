import type { Turn } from '@atrium/protocol/chat/state'

/**
 * The usage of some turns: tokens and cost. The cost is listed by currency, because each agent reports it in the
 * currency of its bill.
 */
export interface Usage {
  readonly turns: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cost: { readonly [currency: string]: number }
}

export const noUsage: Usage = { turns: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cost: {} }

export function plus(a: Usage, b: Usage): Usage {
  const cost = { ...a.cost }
  for (const [currency, amount] of Object.entries(b.cost))
    cost[currency] = (Object.hasOwn(cost, currency) ? (cost[currency] ?? 0) : 0) + amount
  return {
    turns: a.turns + b.turns,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cost,
  }
}

/** Returns the usage of each turn of a chat, oldest first. */
export function usageOfTurns(turns: readonly Turn[]): readonly Usage[] {
  let before: Amount | undefined
  return turns.map(({ usage }): Usage => {
    const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, _meta: meta } = usage ?? {}
    const total = sessionCost(meta?.['x-atrium.context'])
    const own = turnCost(meta?.['x-atrium']) ?? (total && increase(total, before))
    before = total ?? before
    const cost = own && own.amount > 0 ? { [own.currency]: own.amount } : {}
    return { turns: 1, inputTokens, outputTokens, cacheReadTokens, cost }
  })
}

/**
 * Describes the usage of a turn of the built-in model agent in one line: tokens, and the cost if it is known. Undefined for other
 * turns: an ACP agent reports sums of its session, and the guide counts words.
 */
export function usageLine({ usage }: Pick<Turn, 'usage'>): string | undefined {
  const meta = usage?._meta?.['x-atrium']
  if (!usage || typeof objectOf(meta)['context'] !== 'number') return undefined
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0 } = usage
  const count = (tokens: number) => tokens.toLocaleString('en')
  const cached = cacheReadTokens > 0 ? ` (${count(cacheReadTokens)} cached)` : ''
  const cost = turnCost(meta)
  const paid = cost ? `, ${costText(cost.amount)} ${cost.currency}` : ''
  return `${count(inputTokens)} tokens in${cached}, ${count(outputTokens)} out${paid}`
}

/** Formats an amount of money. Small amounts have more digits, so that they are not shown as zero. */
export function costText(amount: number): string {
  return amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)
}

interface Amount {
  readonly amount: number
  readonly currency: string
}

/** Returns the cost of one turn, in dollars, as the built-in model agent reports it. */
function turnCost(meta: unknown): Amount | undefined {
  const { cost } = objectOf(meta)
  return typeof cost === 'number' && Number.isFinite(cost) && cost >= 0
    ? { amount: cost, currency: 'USD' }
    : undefined
}

/** Returns what the session has cost so far, as an ACP agent reports it. */
function sessionCost(context: unknown): Amount | undefined {
  const { amount, currency } = objectOf(objectOf(context)['cost'])
  return typeof amount === 'number' && typeof currency === 'string' ? { amount, currency } : undefined
}

/** Returns the cost since the last report. If the sum has become smaller, a new process of the agent has counted from zero. */
function increase(now: Amount, before: Amount | undefined): Amount {
  const counted = before?.currency === now.currency && before.amount <= now.amount ? before.amount : 0
  return { ...now, amount: now.amount - counted }
}

function objectOf(value: unknown): { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
