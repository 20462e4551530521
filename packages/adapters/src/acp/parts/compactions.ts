import { objectsIn } from '../calls/tool-call.ts'
import type { CompactionSummaryChunk, CompactionUpdate, ContentBlock } from '../process/schema.ts'

/** The compactions of a turn: an agent replaces a part of its context by a summary, and sends the summary whole or in chunks. */
export class Compactions {
  /** The summaries that came in chunks, by the agent's compaction id. */
  readonly #summaries = new Map<string, string>()

  addChunk({ compactionId = '', content }: CompactionSummaryChunk): void {
    const summary = `${this.#summaries.get(compactionId) ?? ''}${textIn(content ? [content] : [])}`
    this.#summaries.set(compactionId, summary.slice(0, maxSummary))
  }

  /** Returns the notice about a compaction that has ended. Undefined for one that is under way or was cancelled. */
  notice({ compactionId = '', status, summary, error }: CompactionUpdate): string | undefined {
    const whole = typeof summary === 'string' ? summary : textIn(summary)
    const text = whole === '' ? (this.#summaries.get(compactionId) ?? '') : whole.slice(0, maxSummary)
    if (status === 'completed') return `The agent has compacted its context. ${text}`.trim()
    if (status !== 'failed') return undefined
    return `The agent could not compact its context. ${typeof error === 'string' ? error : ''}`.trim()
  }
}

function textIn(blocks: readonly ContentBlock[] | null | undefined): string {
  return objectsIn(blocks)
    .map((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : ''))
    .join('')
}

/** The maximum length of a shown summary, in characters. */
const maxSummary = 100_000
