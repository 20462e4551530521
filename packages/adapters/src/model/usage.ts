import type { AgentAction } from '@atrium/host/ports/agent'
import type { UsageInfo } from '@atrium/protocol/common/content'
import { compact } from '@atrium/protocol/update'
import type { LanguageModelV3Usage } from '@ai-sdk/provider'
import type { Price } from './provider/config.ts'
import { metaOf, toMeta } from './meta.ts'
import type { AgentMeta } from './meta.ts'

/** Adds the usage of one request to the usage of the turn. */
export function addUsage(
  before: UsageInfo | undefined,
  request: LanguageModelV3Usage | undefined,
  {
    model,
    price,
    done,
  }: { readonly model: string; readonly price: Price | undefined; readonly done: boolean },
): Extract<AgentAction, { readonly type: 'chat/usage' }> {
  const { total: inputTokens, cacheRead: cached } = request?.inputTokens ?? {}
  const outputTokens = request?.outputTokens.total
  const context = sum(inputTokens, outputTokens) ?? metaOf(before).context
  const cost = sum(
    metaOf(before).cost,
    price && costOf(price, inputTokens ?? 0, outputTokens ?? 0, cached ?? 0),
  )
  const usage = compact<UsageInfo>({
    inputTokens: sum(before?.inputTokens, inputTokens),
    outputTokens: sum(before?.outputTokens, outputTokens),
    cacheReadTokens: sum(before?.cacheReadTokens, cached),
    model,
    ...toMeta(compact<AgentMeta>({ context, cost, done: done || undefined })),
  })
  return { type: 'chat/usage', usage }
}

/** Returns the cost in dollars, rounded to a millionth. */
function costOf(
  { input, output, cacheRead = input }: Price,
  sent: number,
  received: number,
  cached: number,
): number {
  const dollars = ((sent - cached) * input + cached * cacheRead + received * output) / 1_000_000
  return Math.round(dollars * 1_000_000) / 1_000_000
}

/** Adds two numbers. An unknown number counts as 0. Returns undefined if both are unknown. */
function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}
