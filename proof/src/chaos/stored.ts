import { openPostgres, postgresPlace } from '@atrium/adapters/store/postgres'
import { openSqlite } from '@atrium/adapters/store/sqlite'
import type { Store } from '@atrium/host/ports/store'
import type { LoadedChannel, StoredEnvelope } from '@atrium/host/ports/log'
import { rebuild } from '@atrium/host/log/rebuild'
import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Stored, StoredChannel } from './history.ts'

/**
 * Reads the content of a store without changing it. `also` names further channels to read, which the session list may
 * lack.
 */
export async function readStored(
  folder: string,
  also: readonly Uri[] = [],
  laterMigrations?: readonly string[],
): Promise<Stored> {
  const store = await openSqlite(folder, { readOnly: true, ...(laterMigrations && { laterMigrations }) })
  return contentOf(store, folder, also)
}

/** Reads the content of a store in a database. */
export async function readDatabase(url: string, also: readonly Uri[]): Promise<Stored> {
  const place = await postgresPlace(url, {})
  return contentOf(await openPostgres(place), place.name, also)
}

/** Reads the content of a store, and closes the store. */
async function contentOf(store: Store, place: string, also: readonly Uri[]): Promise<Stored> {
  try {
    const records = await store.records.list('session/')
    // Like the host, this function refuses a damaged session list.
    if (records.some(([key]) => typeof key !== 'string'))
      throw new Error(`the session list in ${place} is damaged`)
    const sessions = records.map(([key]) => key.slice('session/'.length))
    const channels: StoredChannel[] = []
    const damaged: { uri: Uri; why: string }[] = []
    for (const uri of new Set([rootUri, ...sessions, ...also])) {
      const read = async (one: Uri): Promise<StoredChannel | undefined> => {
        const loaded = await store.log.load(one)
        if (loaded && 'damaged' in loaded) damaged.push({ uri: one, why: loaded.damaged })
        const channel = loaded && !('damaged' in loaded) ? await channelOf(store, one, loaded) : undefined
        if (channel) channels.push(channel)
        return channel
      }
      const { chats = [] } = ((await read(uri))?.state ?? {}) as Partial<SessionState>
      for (const { resource } of chats) await read(resource)
    }
    return { channels, damaged, sessions }
  } finally {
    await store.log.close()
  }
}

async function channelOf(store: Store, uri: Uri, loaded: LoadedChannel): Promise<StoredChannel> {
  const envelopes: Envelope[] = []
  for (let after = 0; ;) {
    const slice = await store.log.read([uri], after, Number.MAX_SAFE_INTEGER)
    envelopes.push(...slice.envelopes.map(toEnvelope))
    if (!slice.more) break
    after = slice.envelopes.at(-1)?.seq ?? after
  }
  const birth = loaded.fromCreation
    ? { seq: loaded.seq, state: JSON.parse(loaded.state) as unknown }
    : undefined
  const { state } = rebuild(uri, loaded)
  return { uri, kind: loaded.kind, state, envelopes, ...(birth && { birth }) }
}

function toEnvelope({ seq, channel, action, origin }: StoredEnvelope): Envelope {
  const said = { channel, action: JSON.parse(action) as Action, serverSeq: seq }
  return origin ? { ...said, origin: { clientId: origin.clientId, clientSeq: origin.clientSeq } } : said
}
