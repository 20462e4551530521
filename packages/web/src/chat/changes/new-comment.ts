import type { FileEdit } from '@atrium/protocol/common/content'
import { useState } from 'preact/hooks'
import { linesOf } from '../../ui/diff/line-changes.ts'
import { readText } from '../shared/file-contents.ts'
import { useChanges } from './context.ts'

/** What a comment is about: lines of the later side, or the whole file. Line numbers begin with 0. */
export type CommentPlace = { readonly first: number; readonly last: number } | 'file'

/** A comment that a person writes. Its text stays when the lines around it go out of sight. */
export interface NewCommentState {
  readonly place: CommentPlace | undefined
  readonly text: string
  readonly begin: (place: CommentPlace) => void
  readonly change: (text: string) => void
  readonly cancel: () => void
  readonly save: () => void
}

/** The new comment that a person writes on a file. `after`: the text of the later side, as it is shown. */
export function useNewComment(edit: FileEdit, after: string): NewCommentState {
  const { client, comments, say } = useChanges()
  const [place, setPlace] = useState<CommentPlace>()
  const [text, setText] = useState('')
  const resource = edit.after?.uri ?? edit.before?.uri ?? ''
  const isLive = edit.after?.content.uri === resource
  const cancel = () => {
    setPlace(undefined)
    setText('')
  }
  const save = async () => {
    if (!place) return
    const shown = linesOf(after)
    if (place !== 'file' && !isLive) {
      // A comment is about the file on the disk. The changes of an older turn may show other lines at these numbers,
      // so both are compared.
      const read = await readText(client, resource).catch(() => undefined)
      if (read === undefined) return say('The file could not be read, so the comment was not saved.')
      const present = linesOf(read)
      if (
        shown.slice(place.first, place.last + 1).join('') !==
        present.slice(place.first, place.last + 1).join('')
      )
        return say(
          'These lines are no longer there in the file. Comment on the whole file, or on the newer changes.',
        )
    }
    const accepted = await comments.add({
      resource,
      text,
      ...(place !== 'file' && { range: rangeOf(place, shown) }),
    })
    if (accepted) cancel()
  }
  return { place, text, begin: setPlace, change: setText, cancel, save: () => void save() }
}

function rangeOf({ first, last }: Exclude<CommentPlace, 'file'>, lines: readonly string[]) {
  const character = (lines[last] ?? '').replace(/\r?\n$/, '').length
  return { start: { line: first, character: 0 }, end: { line: last, character } }
}
