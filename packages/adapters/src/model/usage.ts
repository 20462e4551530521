import type { AgentAction } from '@atrium/host/ports/agent'
import type { UsageInfo } from '@atrium/protocol/common/content'
import { isJsonObject } from '@atrium/protocol/json'
import { compact } from '@atrium/protocol/update'
import type { LanguageModelV3Usage } from '@ai-sdk/provider'
import type { Price } from './provider/config.ts'
import { metaOf, toMeta } from './meta.ts'
import type { AgentMeta } from './meta.ts'

interface RequestInfo {
  readonly model: string
  readonly price: Price | undefined
  /** Whether the model finished the turn. */
  readonly done: boolean
  /** The digest of the project's instructions. Empty if there are none. */
  readonly instructions?: string
}

/** Adds the usage of one request to the usage of the turn. */
export function addUsage(
  before: UsageInfo | undefined,
  request: LanguageModelV3Usage | undefined,
  { model, price, done, instructions }: RequestInfo,
): Extract<AgentAction, { readonly type: 'chat/usage' }> {
  const { total: inputTokens, cacheRead: cached } = request?.inputTokens ?? {}
  const outputTokens = request?.outputTokens.total
  const context = sum(inputTokens, outputTokens) ?? metaOf(before).context
  const cost = sum(metaOf(before).cost, request && costOf(request, price))
  const usage = compact<UsageInfo>({
    inputTokens: sum(before?.inputTokens, inputTokens),
    outputTokens: sum(before?.outputTokens, outputTokens),
    cacheReadTokens: sum(before?.cacheReadTokens, cached),
    model,
    ...toMeta(
      compact<AgentMeta>({
        context,
        cost: cost === undefined ? undefined : rounded(cost),
        done: done || undefined,
        instructions: instructions || undefined,
      }),
    ),
  })
  return { type: 'chat/usage', usage }
}

/**
 * Returns the cost of a request in dollars: what the provider says, or else the tokens at the known price. Undefined if neither
 * is known, because a guessed cost is worse than none.
 */
function costOf(request: LanguageModelV3Usage, price: Price | undefined): number | undefined {
  const reported = reportedCost(request.raw)
  if (reported !== undefined) return rounded(reported)
  const { total: sent, cacheRead: read = 0, cacheWrite: written = 0 } = request.inputTokens
  const received = request.outputTokens.total
  if (!price || sent === undefined || received === undefined) return undefined
  const { input, output, cacheRead = input, cacheWrite = input } = price
  const plain = Math.max(0, sent - read - written)
  return rounded((plain * input + read * cacheRead + written * cacheWrite + received * output) / 1_000_000)
}

/** Reads the cost that some OpenAI-compatible servers put into the usage: a number, or an object with the total. */
function reportedCost(raw: unknown): number | undefined {
  const cost = isJsonObject(raw) ? raw['cost'] : undefined
  const amount = isJsonObject(cost) ? cost['total_cost'] : cost
  return typeof amount === 'number' && Number.isFinite(amount) && amount >= 0 ? amount : undefined
}

/** Rounds to a millionth, so that sums have no digits that mean nothing. */
function rounded(dollars: number): number {
  return Math.round(dollars * 1_000_000) / 1_000_000
}

/** Adds two numbers. An unknown number counts as 0. Returns undefined if both are unknown. */
function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}
