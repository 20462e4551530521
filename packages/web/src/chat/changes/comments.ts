import type { Client } from '@atrium/client/client'
import { sessionComments } from '@atrium/client/comments'
import type { NewComment } from '@atrium/client/comments'
import type { Annotation } from '@atrium/protocol/annotations/state'
import { annotationsUri } from '@atrium/protocol/uri'
import { useMemo } from 'preact/hooks'
import { useLiveChannel } from '../../link/live-channel.ts'
import { member, ownMember } from '../shared/member.ts'

/**
 * The comments of a session, and what can be done with them. Each promise resolves to whether the host has accepted
 * the change.
 */
export interface Comments {
  readonly all: readonly Annotation[]
  readonly add: (comment: NewComment) => Promise<boolean>
  readonly reply: (id: string, text: string) => Promise<boolean>
  readonly resolve: (id: string, resolved: boolean) => Promise<boolean>
  readonly remove: (id: string) => Promise<boolean>
}

const none: readonly Annotation[] = []

export function useComments(client: Client, session: string, say: (text: string) => void): Comments {
  const { state } = useLiveChannel(client, 'annotations', annotationsUri(session))
  const all = state?.annotations ?? none
  const actions = useMemo(() => {
    const change = async (
      done: 'saved' | 'changed' | 'removed',
      run: (comments: ReturnType<typeof sessionComments>) => Promise<unknown>,
    ) => {
      const comments = sessionComments(client, session)
      try {
        await run(comments)
        return true
      } catch (error) {
        say(`The comment was not ${done}: ${error instanceof Error ? error.message : String(error)}`)
        return false
      } finally {
        comments.release()
      }
    }
    return {
      add: (comment: NewComment) => change('saved', (comments) => comments.add(comment)),
      reply: (id: string, text: string) => change('saved', (comments) => comments.reply(id, text)),
      resolve: (id: string, resolved: boolean) =>
        change('changed', (comments) => comments.resolve(id, resolved)),
      remove: (id: string) => change('removed', (comments) => comments.remove(id)),
    }
  }, [client, session, say])
  return useMemo(() => ({ all, ...actions }), [all, actions])
}

/** The comments on a file: those that belong to a line that is shown, and the others. */
export interface PlacedComments {
  readonly atLine: ReadonlyMap<number, readonly Annotation[]>
  readonly others: readonly Annotation[]
}

/**
 * Finds the line of each comment on a file. The host moves comments with the text of the file on the disk. A diff may show
 * an older text, so a comment stands at its line only if the line still has the text that the comment is about.
 */
export function placeComments(
  all: readonly Annotation[],
  resource: string,
  lines: readonly string[],
): PlacedComments {
  const atLine = new Map<number, Annotation[]>()
  const others: Annotation[] = []
  for (const comment of all.filter((each) => each.resource === resource)) {
    const line = lineOf(comment)
    if (line === undefined || !fits(comment, lines)) others.push(comment)
    else atLine.set(line, [...(atLine.get(line) ?? []), comment])
  }
  return { atLine, others }
}

/** The last line that a comment is about. Undefined for a comment on the whole file. */
export function lineOf({ range }: Annotation): number | undefined {
  if (!range) return undefined
  const { start, end } = range
  return end.character === 0 && end.line > start.line ? end.line - 1 : end.line
}

export function isOutdated(comment: Annotation): boolean {
  return ownMember(comment, 'outdated') === true
}

function fits(comment: Annotation, lines: readonly string[]): boolean {
  if (isOutdated(comment)) return false
  const text = lines[comment.range?.start.line ?? -1]
  if (text === undefined) return false
  const anchored = member(ownMember(comment, 'anchor'), 'lines')
  const first: unknown = Array.isArray(anchored) ? anchored[0] : undefined
  // The host stores the beginnings of long lines only. So the line must begin with the stored text.
  return typeof first !== 'string' || text.replace(/\r?\n$/, '').startsWith(first.replace(/\r?\n$/, ''))
}
