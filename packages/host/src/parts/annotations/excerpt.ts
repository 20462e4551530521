import type { AttachedAnnotations } from '../../catalog/commenting.ts'
import { ownersOf } from '../../catalog/owners.ts'
import { authorOf, isOutdated } from '@atrium/protocol/annotations/own'
import type { Annotation, AnnotationEntry } from '@atrium/protocol/annotations/state'
import { AhpError } from '@atrium/protocol/errors'
import { pathOf } from '@atrium/protocol/file-uri'
import { annotatedSession } from '../../channels/annotations-channel.ts'
import { wake } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import { isFile } from '../resources/client-files.ts'
import { coveredLines } from './anchor.ts'
import { followChannel, readLines } from './followed-files.ts'

/**
 * The text of attached annotations for an agent: the file, the lines, the code around them and what was said. The
 * principal is the owner of the agent's session. Throws an `AhpError` for annotations that do not exist or belong to
 * a session of another principal.
 */
export async function annotationsText(
  core: Core,
  principal: string,
  attached: AttachedAnnotations,
): Promise<string> {
  const session = annotatedSession(core, attached.resource)
  const owned = session !== undefined && ownersOf(core).of(session) === principal
  const channel = owned ? await wake(core, attached.resource) : undefined
  if (!channel?.is('annotations')) throw AhpError.notFound('there are no such annotations')
  await followChannel(core, channel)
  const { annotations } = channel.head
  const ids = attached.annotationIds ?? annotations.map(({ id }) => id)
  const texts: string[] = []
  let length = 0
  for (const id of ids) {
    const annotation = annotations.find((each) => each.id === id)
    if (!annotation) throw AhpError.notFound(`there is no annotation ${JSON.stringify(id.slice(0, 100))}`)
    const text = await annotationText(core, annotation)
    length += text.length
    if (length > core.limits.transcriptLength) {
      texts.push('(There are more comments than fit here.)')
      break
    }
    texts.push(text)
  }
  return texts.length === 0 ? '(There are no comments.)' : texts.join('\n\n')
}

/** Returns one annotation as a text for agents: its file, its lines, the code and the entries. */
export async function annotationText(core: Core, annotation: Annotation): Promise<string> {
  const { id, resource, range, resolved, entries } = annotation
  const named = isFile(resource) ? pathOf(resource) : undefined
  const notes = [
    ...(resolved ? ['resolved'] : []),
    ...(isOutdated(annotation) ? ['outdated: the file no longer has this text'] : []),
  ]
  const note = notes.length > 0 ? ` (${notes.join('; ')})` : ''
  const head = `Comment ${id} on ${named?.ok ? named.path : resource}${range ? `, ${linesText(annotation)}` : ''}${note}:`
  return [head, ...(await codeOf(core, annotation)), ...entries.map(entryText)].join('\n')
}

/** Names the lines that an annotation covers, counted from 1. Empty if the annotation is about the whole file. */
function linesText({ range }: Annotation): string {
  if (!range) return ''
  const [first, last] = coveredLines(range)
  return first === last ? `line ${first + 1}` : `lines ${first + 1} to ${last + 1}`
}

/**
 * `around` is the number of lines shown before and after a range. Of a long range, `edge` lines are shown at each
 * end.
 */
const around = 3
const edge = 20

async function codeOf(core: Core, annotation: Annotation): Promise<readonly string[]> {
  const { resource, range } = annotation
  if (!range || !isFile(resource) || isOutdated(annotation)) return []
  const file = await readLines(core, resource)
  if (!file || file === 'unreadable') return []
  const [first, last] = coveredLines(range)
  const shown: string[] = []
  for (let at = Math.max(0, first - around); at <= Math.min(last + around, file.lines.length - 1); at++) {
    const inMiddle = at >= first + edge && at <= last - edge
    if (inMiddle && at > first + edge) continue
    const mark = at >= first && at <= last ? '>' : ' '
    const line = inMiddle ? '…' : (file.lines[at] ?? '').slice(0, core.limits.searchLineLength)
    shown.push(inMiddle ? `${mark} ${line}` : `${mark} ${at + 1} | ${line}`)
  }
  return shown
}

function entryText(entry: AnnotationEntry): string {
  const { provider, name, clientId } = authorOf(entry) ?? {}
  const who = name ?? provider ?? clientId ?? 'somebody'
  const text = typeof entry.text === 'string' ? entry.text : entry.text.markdown
  return `${who}: ${text}`
}
