import { catalogOf } from '../../catalog/catalog.ts'
import { filesOf } from '../../catalog/machine.ts'
import { ownDataOf, ownIn, withOwn } from '@atrium/protocol/annotations/own'
import type { Annotation } from '@atrium/protocol/annotations/state'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { fileUri } from '@atrium/protocol/file-uri'
import { compact } from '@atrium/protocol/update'
import { annotationsUri } from '@atrium/protocol/uri'
import { isSecret } from '../access/protected-files.ts'
import { containedPath } from '../access/roots.ts'
import { wakeIfSound } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { equal } from '../../kernel/log/equal.ts'
import { isFile } from '../resources/client-files.ts'
import { attempt } from '../resources/resources.ts'
import { anchorAt, fileLines, locate } from './anchor.ts'
import type { FileLines } from './anchor.ts'

/** Reads the files of a session's annotations, and moves the annotations to where their texts are now. */
export async function followTexts(core: Core, session: Uri): Promise<void> {
  if (!catalogOf(core).get(session)?.annotations?.annotationCount) return
  const channel = await wakeIfSound(core, annotationsUri(session))
  if (channel?.is('annotations')) await followChannel(core, channel)
}

/** The channels whose files are being read. The value tells whether the files must be read once more afterwards. */
const reading = new WeakMap<Channel, { again: boolean; readonly done: Promise<void> }>()

/**
 * Does the same as `followTexts` for a channel that is in memory. Resolves when each file has been read at least once
 * after the call.
 */
export function followChannel(core: Core, channel: Channel<'annotations'>): Promise<void> {
  const running = reading.get(channel)
  if (running) {
    running.again = true
    return running.done
  }
  const state = { again: true, done: Promise.resolve() }
  const run = async () => {
    while (state.again) {
      state.again = false
      await followOnce(core, channel).catch((error: unknown) =>
        core.world.report('annotations were not followed', error),
      )
    }
    reading.delete(channel)
  }
  reading.set(channel, state)
  state.done = run()
  return state.done
}

async function followOnce(core: Core, channel: Channel<'annotations'>): Promise<void> {
  const files = new Set(channel.head.annotations.map(({ resource }) => resource).filter(isFile))
  for (const resource of files) {
    const file = await readLines(core, resource)
    // Nothing is changed after the end of the session, at the end of the host, or while the host is read-only.
    if (core.log.channel(channel.uri) !== channel || core.jobs.stopping) return
    if (core.readOnlyReason() !== undefined) return
    if (file === 'unreadable') continue
    for (const annotation of channel.head.annotations.filter((each) => each.resource === resource)) {
      const next = followed(annotation, file)
      if (!equal(next, annotation)) core.log.append(channel, { type: 'annotations/set', annotation: next })
    }
  }
}

/**
 * Returns an annotation as it is after a change of its file: moved to where its text is now. If the file or the text
 * is gone, the annotation becomes outdated.
 */
export function followed(annotation: Annotation, file: FileLines | undefined): Annotation {
  const { range, resource } = annotation
  const { anchor } = ownDataOf(annotation)
  if (!range || !file) return marked(annotation, file === undefined)
  // The annotation is new, or a client has set another range. The text of the annotation is what the range contains now.
  if (!anchor || anchor.resource !== resource || !equal(anchor.range, range)) {
    const made = anchorAt(file, resource, range)
    return marked(withOwn(annotation, compact<object>({ ...ownIn(annotation), anchor: made })), !made)
  }
  const found = locate(anchor, file)
  if (!found) return marked(annotation, true)
  const fresh = anchorAt(file, resource, found) ?? anchor
  // If the text has as many lines as before, the anchor keeps the old lines, because the old text may come back.
  const learned = { ...fresh, lines: fresh.lines.length === anchor.lines.length ? anchor.lines : fresh.lines }
  return marked({ ...withOwn(annotation, { ...ownIn(annotation), anchor: learned }), range: found }, false)
}

function marked(annotation: Annotation, outdated: boolean): Annotation {
  const own = compact<object>({ ...ownIn(annotation), outdated: outdated || undefined })
  return withOwn(annotation, Object.keys(own).length > 0 ? own : undefined)
}

/**
 * The lines of a file; undefined if there is no such file. `unreadable` if the file cannot be read, or if it is
 * likely to hold keys.
 */
export async function readLines(core: Core, resource: Uri): Promise<FileLines | undefined | 'unreadable'> {
  if (!filesOf(core) || isSecret(resource)) return 'unreadable'
  try {
    const place = containedPath(core, resource, 'read')
    const { path } = await attempt(core, resource, 'read', (files) => files.stat(place, true))
    // A link may lead to a file that holds keys. No line of such a file is kept.
    if (isSecret(fileUri(path))) return 'unreadable'
    const most = core.limits.annotatedBytes
    const bytes = await attempt(core, resource, 'read', (files) => files.read(place, most))
    return fileLines(new TextDecoder().decode(bytes))
  } catch (error) {
    if (error instanceof AhpError) return error.code === errorCodes.NotFound ? undefined : 'unreadable'
    throw error
  }
}
