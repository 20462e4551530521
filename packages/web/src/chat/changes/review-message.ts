import type { Annotation } from '@atrium/protocol/annotations/state'
import type { MessageAttachment } from '@atrium/protocol/chat/message'
import { annotationsUri } from '@atrium/protocol/uri'
import { ownMember, textMember } from '../shared/member.ts'
import { plainText } from '../shared/text.ts'
import { lineOf } from './comments.ts'
import { pathIn } from './scopes.ts'

export interface ReviewMessage {
  readonly text: string
  readonly attachments: readonly MessageAttachment[]
}

/** The comments that an agent has not answered yet: the open ones whose last entry is by a person. */
export function unansweredComments(all: readonly Annotation[]): readonly Annotation[] {
  return all.filter(({ resolved, entries }) => {
    const author = ownMember(entries.at(-1), 'author')
    return !resolved && entries.length > 0 && textMember(author, 'provider') === undefined
  })
}

/** The message that gives comments to an agent: each with its file and lines, and all of them as an attachment. */
export function reviewMessage(
  session: string,
  comments: readonly Annotation[],
  folders: readonly string[],
): ReviewMessage {
  const items = comments.map((comment) => {
    const text = plainText(comment.entries.at(-1)?.text).trim().replaceAll('\n', '\n  ')
    return `- ${placeOf(comment, folders)}: ${text}`
  })
  const label = comments.length === 1 ? '1 comment' : `${comments.length} comments`
  return {
    text: `Please go through ${comments.length === 1 ? 'this comment' : 'these comments'} on your changes:\n\n${items.join('\n')}`,
    attachments: [
      {
        type: 'annotations',
        label,
        resource: annotationsUri(session),
        annotationIds: comments.map(({ id }) => id),
      },
    ],
  }
}

/** Where a comment is, as agents and editors write it: `src/app.py:12-14`. */
function placeOf(comment: Annotation, folders: readonly string[]): string {
  const path = pathIn(comment.resource, folders)
  const last = lineOf(comment)
  const first = comment.range?.start.line
  if (last === undefined || first === undefined) return path
  return first === last ? `${path}:${first + 1}` : `${path}:${first + 1}-${last + 1}`
}
