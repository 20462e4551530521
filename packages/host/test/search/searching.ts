import { searchOf } from '../../src/parts/search/search.ts'
import { memorySearch } from '@atrium/adapters/search/memory'
import type { SearchResult } from '../../src/parts/search/extensions.ts'
import type { Agent } from '../../src/ports/agent.ts'
import type { IndexChange, SearchIndex } from '../../src/ports/search-index.ts'
import { readyAgent } from '../agents.ts'
import { untilIdle } from '../held-flushes.ts'
import { oneClientSession } from '../one-client-session.ts'
import type { Client, TestHost, TestHostOptions } from '../test-host.ts'

/** An index that each epoch of a host opens anew, with a record of its changes, and faults for tests. */
export class TestIndex {
  readonly inner: SearchIndex = memorySearch()
  readonly changes: IndexChange[] = []
  /** Called before each change and each search. It may throw, or wait. */
  fault: (name: 'begin' | 'update' | 'find') => void | Promise<void> = () => {}
  /** The session of which no change is taken. */
  refused: string | undefined
  /** Whether the next epoch of the host has no index. */
  absent = false
  #epoch = 0

  /** Opens the index. Nothing that an earlier epoch has opened works any more, as after a crash. */
  open(): SearchIndex {
    const own = ++this.#epoch
    const guarded = async (name: 'begin' | 'update' | 'find') => {
      await this.fault(name)
      if (own !== this.#epoch) throw new Error('this epoch has ended')
    }
    return {
      begin: async (...given) => (await guarded('begin'), this.inner.begin(...given)),
      update: async (change) => {
        await guarded('update')
        if (change.session === this.refused) throw new Error(`no change of ${change.session} is taken`)
        this.changes.push(change)
        await this.inner.update(change)
      },
      find: async (query) => (await guarded('find'), this.inner.find(query)),
      clear: () => this.inner.clear(),
      close: async () => {},
    }
  }
}

export interface SearchedHost {
  readonly all: TestHost
  readonly ann: Client
  readonly index: TestIndex
}

/** A host with a search index, and Ann in a session. */
export async function searchedHost(
  agent: Agent = readyAgent(),
  options: TestHostOptions = {},
): Promise<SearchedHost> {
  const index = new TestIndex()
  const machine = {
    ...options.machine,
    get search() {
      return index.absent ? undefined : index.open()
    },
  }
  const { all, ann } = await oneClientSession(agent, { ...options, machine })
  return { all, ann, index }
}

export function search(client: Client, query: string, more: object = {}): Promise<SearchResult> {
  // The host of the same build answers with this shape.
  return client.peer.request('x-atrium/search', {
    channel: 'ahp-root://',
    query,
    ...more,
  }) as Promise<SearchResult>
}

/** The turns in which a query is found. */
export async function turnsWith(client: Client, query: string): Promise<readonly (string | undefined)[]> {
  return (await search(client, query)).items.map(({ turnId }) => turnId)
}

/** Lets time pass until the index has everything. */
export async function indexed(all: TestHost): Promise<void> {
  // The first look at the index is after five seconds.
  all.world.advance(5000)
  await untilIdle()
  for (let i = 0; i < 100; i++) {
    all.world.advance(100)
    await untilIdle()
    const { pending } = (await searchOf(all.core())?.find({ channel: '', query: '' })) ?? {}
    if (pending === undefined) return
  }
  throw new Error('the index was not fed')
}
