import type { ChatState } from '@atrium/protocol/chat/state'
import { rootUri } from '@atrium/protocol/uri'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { patientAgent } from '../../../test/agents.ts'
import { days, untilIdle } from '../../../test/held-flushes.ts'
import { askState, folded, pages } from '../../../test/history/past.ts'
import { chat, chatOf, message, oneClientSession, started } from '../../../test/one-client-session.ts'
import type { Client } from '../../../test/test-host.ts'

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ does: 'start' } as const) },
  { weight: 4, arbitrary: fc.constant({ does: 'finish' } as const) },
  { weight: 3, arbitrary: fc.constant({ does: 'queue' } as const) },
  { weight: 2, arbitrary: fc.constant({ does: 'draft' } as const) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('cut' as const), keep: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('seal' as const), part: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.constant({ does: 'restart' } as const) },
  { weight: 1, arbitrary: fc.constant({ does: 'forget' } as const) },
  { weight: 1, arbitrary: fc.constant({ does: 'ask' } as const) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** A chat to which random things happen, and what an observer saw of it. */
class Run {
  readonly agent = patientAgent()
  readonly seen = new Map<number, ChatState>()
  ann!: Client
  all!: Awaited<ReturnType<typeof oneClientSession>>['all']
  #count = 0

  async begin(): Promise<void> {
    Object.assign(this, await oneClientSession(this.agent))
    this.#observe()
    // A session that nobody has used is removed when its client has left.
    this.ann.dispatch(chat, started('t0', 'text-0;'))
    this.agent.finish('t0')
    await this.ann.until(() => chatOf(this.ann).turns.length === 1)
  }

  async does(action: Step): Promise<void> {
    const { ann, all } = this
    const { turns, activeTurn } = chatOf(ann)
    const text = `text-${++this.#count};`
    if (action.does === 'start' && !activeTurn) ann.dispatch(chat, started(`t${this.#count}`, text))
    if (action.does === 'finish' && activeTurn) this.agent.finish(activeTurn.id)
    if (action.does === 'queue' && activeTurn)
      ann.dispatch(chat, { type: 'chat/pendingMessageSet', kind: 'queued', id: text, message: message(text) })
    if (action.does === 'draft') ann.dispatch(chat, { type: 'chat/draftChanged', draft: message(text) })
    if (action.does === 'cut') {
      const turnId = turns[action.keep % (turns.length + 1)]?.id
      ann.dispatch(chat, { type: 'chat/truncated', ...(turnId !== undefined && { turnId }) })
    }
    await untilIdle()
    const { committedSeq } = all.core().log
    if (action.does === 'seal') await all.store().log.seal(chat, committedSeq - action.part, 0)
    if (action.does === 'ask') await pages(ann)
    if (action.does === 'forget') {
      ann.dispatch(rootUri, { type: 'root/configChanged', config: { 'atrium.retention': 1 } })
      await days(all, 2)
    }
    if (action.does === 'restart') {
      await all.restart()
      await untilIdle()
      this.ann = await all.join(`ann${this.#count}`, { subscribe: [chat, rootUri] })
      this.#observe()
    }
  }

  /** The turns that were there once, and are gone. */
  taken(): readonly { readonly id: string; readonly text: string }[] {
    const left = new Set(turnsIn(chatOf(this.ann)).map(({ id }) => id))
    const all = [...this.seen.values()].flatMap(turnsIn)
    return all.filter(({ id }) => !left.has(id)).map(({ id, message: { text } }) => ({ id, text }))
  }

  #observe(): void {
    const { ann } = this
    const { fold } = ann
    ann.fold = (uri, action) => {
      fold.call(ann, uri, action)
      if (uri === chat) this.seen.set(ann.lastSeen, chatOf(ann))
    }
  }
}

const turnsIn = ({ turns, activeTurn }: ChatState) => [...turns, ...(activeTurn ? [activeTurn] : [])]

/** A state without what is not shown of the past, or does not come from the log of the chat. */
function comparable(state: object | undefined): object {
  const { draft: _, title: _title, queuedMessages: _queued, ...rest } = state as ChatState
  return rest
}

test(
  '[L22] [L23] [L24] in random histories, each state is the fold of the envelopes and what was seen then',
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 24 }),
        fc.integer({ min: 1, max: 9 }),
        async (steps, limit) => {
          const run = new Run()
          await run.begin()
          for (const each of steps) await run.does(each)
          const { ann, seen } = run
          const history = await pages(ann, { limit })
          const answers = [history, await pages(ann)]
          expect(answers[1]?.envelopes).toEqual(history.envelopes)
          const shown = new Set(history.envelopes.map(({ serverSeq }) => serverSeq))
          const lastGap = Math.max(history.begins, ...history.gaps.map(({ before }) => before))
          for (const [seq, state] of seen) {
            const answer = await askState(ann, seq, { turns: 100 })
            answers.push(answer as never)
            if (answer.snapshot) expect(comparable(answer.snapshot.state)).toEqual(comparable(state))
            else expect(shown).not.toContain(seq)
            if (seq >= lastGap) expect(answer).toHaveProperty('snapshot')
          }
          for (let count = 0; count <= history.total; count++) {
            const some = history.envelopes.slice(0, count)
            const { snapshot, position } = await askState(ann, some.at(-1)?.serverSeq ?? history.begins, {
              turns: 100,
            })
            expect(await folded(ann, history, some, history.gaps)).toEqual(snapshot?.state)
            expect(position).toBe(count)
          }
          const everything = JSON.stringify(answers)
          for (const { id, text } of run.taken()) {
            expect(everything).not.toContain(`"id":"${id}"`)
            // The text of a queued message is also its id.
            expect(everything).not.toContain(`"text":"${text}"`)
          }
        },
      ),
      { numRuns: 40, endOnFailure: true },
    ),
  60_000,
)
