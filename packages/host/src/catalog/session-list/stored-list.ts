import type { AnnotationsState } from '@atrium/protocol/annotations/state'
import type { Uri } from '@atrium/protocol/channel'
import type { SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { annotationsUri } from '@atrium/protocol/uri'
import { rebuild } from '../../kernel/log/rebuild.ts'
import type { LogStore } from '../../ports/log.ts'
import type { Records } from '../../ports/records.ts'
import { readText } from '../../kernel/records/checked-records.ts'
import { annotationCounts, summaryOf } from '../summary.ts'

/** The stored form of an entry of the session list. */
export interface StoredEntry {
  readonly summary: SessionSummary
  /** The sequence numbers of the session's changes (`ListChanges`). */
  readonly numbers: string
  /** Set if the entry was damaged: the state of the session, from which it was made again. */
  readonly state?: SessionState
}

/** The beginning of the keys of the records that hold the session list. */
export const prefix = 'session/'

/**
 * Reads the session list. A damaged entry is made again from the log of its session. `lacking`: the sessions whose log is damaged
 * too, which are not listed. `first`: the first number of this run, which counts as the number of the last change of such an entry.
 */
export async function storedList(
  records: Records,
  log: Pick<LogStore, 'load' | 'creation'>,
  first: number,
): Promise<{ readonly entries: readonly StoredEntry[]; readonly lacking: readonly Uri[] }> {
  const sound = (await records.list(prefix)).flatMap(
    ([key, text]) => readText(records, key, { text, read: (stored) => entryIn(key, stored) }) ?? [],
  )
  const present = new Set(sound.map(({ summary }) => summary.resource))
  const made = await Promise.all(
    (records.setAsideIn?.(prefix) ?? []).map(async ([key, text]) => {
      for (const uri of namesIn(key, text)) {
        if (present.has(uri)) continue
        const entry = await entryFrom(log, uri, first)
        if (entry) return entry
      }
      return key.slice(prefix.length)
    }),
  )
  return {
    entries: [...sound, ...made.filter((entry) => typeof entry !== 'string')],
    lacking: made.filter((entry) => typeof entry === 'string').filter((uri) => !present.has(uri)),
  }
}

/** Reads an entry. The key and the text both contain the URI, so that damage to either is noticed. */
function entryIn(key: string, text: string): StoredEntry {
  const at = text.indexOf('{')
  // The shape is trusted, because the session list has written the text.
  const summary: SessionSummary = JSON.parse(text.slice(at))
  if (key !== `${prefix}${summary.resource}`) throw new Error('the entry is of another session')
  return { summary, numbers: text.slice(0, at) }
}

/** The URIs that a damaged entry may be about. Its key may be damaged, or its text. */
function namesIn(key: string, text: string): readonly Uri[] {
  const named = [...text.matchAll(/"resource":"([^"\\]+)"/g)].map(([, uri = '']) => uri)
  return [key.slice(prefix.length), ...named]
}

async function entryFrom(
  log: Pick<LogStore, 'load' | 'creation'>,
  uri: Uri,
  first: number,
): Promise<StoredEntry | undefined> {
  try {
    const [loaded, creation] = await Promise.all([log.load(uri), log.creation(uri)])
    if (!loaded || !creation) return undefined
    const { kind, state: folded } = rebuild(uri, loaded)
    if (kind.name !== 'session') return undefined
    // The cast is safe: the kind is that of sessions.
    const state = folded as SessionState
    // The numbers of a run begin at its start in microseconds, so the number of the creation tells its time.
    const createdAt = new Date(Math.floor(creation.seq / 1000)).toISOString()
    const annotations = await annotationsOf(log, uri)
    const summary = { ...summaryOf(uri, createdAt, state), ...(annotations && { annotations }) }
    return { summary, numbers: `0 ${first}`, state }
  } catch {
    return undefined
  }
}

async function annotationsOf(log: Pick<LogStore, 'load'>, session: Uri) {
  const uri = annotationsUri(session)
  const loaded = await log.load(uri)
  if (!loaded) return undefined
  const { kind, state } = rebuild(uri, loaded)
  // The cast is safe: the kind is that of annotations.
  return kind.name === 'annotations' ? annotationCounts(uri, state as AnnotationsState) : undefined
}
