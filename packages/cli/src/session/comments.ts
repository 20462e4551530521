import { authorOf, isOutdated } from '@atrium/protocol/annotations/own'
import type { Annotation, AnnotationEntry } from '@atrium/protocol/annotations/state'
import type { TextRange } from '@atrium/protocol/common/text'
import { pathOf } from '@atrium/protocol/file-uri'
import { CommandError, exits } from '../terminal/exit.ts'
import { onOneLine, sanitize } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

/** One comment as a JSON document. Lines are counted from 1. */
export function commentDocument(annotation: Annotation): object {
  const { id, resolved, entries, range } = annotation
  return {
    id,
    file: fileOf(annotation),
    ...(range && { line: firstLine(range), lastLine: lastLine(range) }),
    resolved,
    outdated: isOutdated(annotation),
    entries: entries.map((entry) => ({ id: entry.id, by: writerOf(entry), text: textOf(entry) })),
  }
}

/** One comment as text: a line about its place, and the lines of its entries. */
export function commentText(annotation: Annotation, name: string, style: Style): string {
  const marks = [
    ...(annotation.resolved ? [style.green('resolved')] : []),
    ...(isOutdated(annotation) ? [style.yellow('outdated')] : []),
  ]
  const head = [style.cyan(name), style.bold(onOneLine(placeOf(annotation))), ...marks].join('  ')
  const lines = annotation.entries.flatMap((entry) => {
    const [first = '', ...rest] = sanitize(textOf(entry)).split('\n')
    return [`  ${style.dim(`${onOneLine(writerOf(entry))}:`)} ${first}`, ...rest.map((line) => `    ${line}`)]
  })
  return [head, ...lines].join('\n')
}

/** Finds a comment by its id, or by the beginning of it. */
export function findComment(all: readonly Annotation[], name: string): Annotation {
  const exact = all.find(({ id }) => id === name)
  const found = exact ? [exact] : all.filter(({ id }) => name !== '' && id.startsWith(name))
  const [only] = found
  if (!only)
    throw new CommandError(`There is no comment '${name}'; see them with: atrium comments`, exits.notFound)
  if (found.length > 1)
    throw new CommandError(`${found.length} comments begin with '${name}'; type more of it.`, exits.usage)
  return only
}

/** Parses a place that a user names: `FILE`, `FILE:LINE` or `FILE:FIRST-LAST`. */
export function parsePlace(place: string): { readonly file: string; readonly range?: TextRange } {
  const [, file = place, first, last = first] = /^(.+?):(\d{1,9})(?:-(\d{1,9}))?$/.exec(place) ?? []
  if (first === undefined) return { file }
  const [from, to] = [Number(first), Number(last)]
  if (from < 1 || to < from)
    throw new CommandError(`'${place}' names no lines; lines begin at 1, as in a.ts:3-5.`, exits.usage)
  // The range ends where the line after it begins, so that it has whole lines.
  return { file, range: { start: { line: from - 1, character: 0 }, end: { line: to, character: 0 } } }
}

function placeOf(annotation: Annotation): string {
  const { range } = annotation
  if (!range) return fileOf(annotation)
  const [first, last] = [firstLine(range), lastLine(range)]
  return `${fileOf(annotation)}:${first}${last > first ? `-${last}` : ''}`
}

function fileOf({ resource }: Annotation): string {
  const named = pathOf(resource)
  return named.ok ? named.path : resource
}

function firstLine({ start }: TextRange): number {
  return start.line + 1
}

function lastLine({ start, end }: TextRange): number {
  return end.character === 0 && end.line > start.line ? end.line : end.line + 1
}

function writerOf(entry: AnnotationEntry): string {
  const { name, provider, clientId } = authorOf(entry) ?? {}
  return name ?? provider ?? clientId ?? 'somebody'
}

function textOf({ text }: AnnotationEntry): string {
  return typeof text === 'string' ? text : text.markdown
}
