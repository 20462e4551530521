import type { AgentAction } from '@atrium/host/ports/agent'
import type { UsageInfo } from '@atrium/protocol/common/content'
import { compact } from '@atrium/protocol/update'
import type { LanguageModelV3Usage } from '@ai-sdk/provider'
import type { Price } from './provider/config.ts'
import { noteOf, noted } from './meta.ts'
import type { Note } from './meta.ts'

/** What a turn has used until now, with one more request. */
export function usageWith(
  before: UsageInfo | undefined,
  request: LanguageModelV3Usage | undefined,
  {
    model,
    price,
    done,
  }: { readonly model: string; readonly price: Price | undefined; readonly done: boolean },
): Extract<AgentAction, { readonly type: 'chat/usage' }> {
  const { total: inputTokens, cacheRead: read } = request?.inputTokens ?? {}
  const outputTokens = request?.outputTokens.total
  const context = sum(inputTokens, outputTokens) ?? noteOf(before).context
  const cost = sum(
    noteOf(before).cost,
    price && costOf(price, inputTokens ?? 0, outputTokens ?? 0, read ?? 0),
  )
  const usage = compact<UsageInfo>({
    inputTokens: sum(before?.inputTokens, inputTokens),
    outputTokens: sum(before?.outputTokens, outputTokens),
    cacheReadTokens: sum(before?.cacheReadTokens, read),
    model,
    ...noted(compact<Note>({ context, cost, done: done || undefined })),
  })
  return { type: 'chat/usage', usage }
}

/** In dollars; a millionth is as exact as prices are. */
function costOf(
  { input, output, cacheRead = input }: Price,
  sent: number,
  said: number,
  read: number,
): number {
  const dollars = ((sent - read) * input + read * cacheRead + said * output) / 1_000_000
  return Math.round(dollars * 1_000_000) / 1_000_000
}

/** Nothing where nothing is known. */
function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}
