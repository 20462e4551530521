import type { Client } from '@atrium/client/client'
import type { CompletionItem } from '@atrium/protocol/chat/commands'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ownMember } from '../shared/member.ts'

/** A text and the place in it where a person writes. */
export interface Typed {
  readonly text: string
  readonly caret: number
}

export interface Completions {
  readonly items: readonly CompletionItem[]
  /** The index of the item that Enter takes. */
  readonly active: number
  readonly setActive: (at: number) => void
  /** Looks for completions of the word before the caret. */
  readonly look: (typed: Typed) => void
  readonly close: () => void
}

/** How long a person must have stopped typing before the host is asked, in milliseconds. */
const pauseMs = 60
/** The first and the longest pause before the host is asked again for what it has not found in time, in milliseconds. */
const firstAgainMs = 250
const longestAgainMs = 4000
const none: readonly CompletionItem[] = []

/**
 * The completions of the word that a person types: files and chats to attach, and commands of the agent (J1). If the host
 * says that it has not found all of them in time, it is asked again as long as the word stands.
 */
export function useCompletions(client: Client, chat: string): Completions {
  const [items, setItems] = useState(none)
  const [active, setActive] = useState(0)
  const asked = useRef(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  /** The shown items, and the text for which their ranges are. */
  const list = useRef({ items: none, typed: { text: '', caret: 0 } })
  /** Whether a person has chosen an item since the last letter. */
  const hasChosen = useRef(false)
  /** Shows completions. The item that a person has chosen stays chosen, if it is among them. */
  const show = (found: readonly CompletionItem[], typed: Typed, chosen?: string) => {
    list.current = { items: found, typed }
    setItems(found)
    setActive(Math.max(0, chosen === undefined ? 0 : found.findIndex((each) => each.insertText === chosen)))
  }
  const now = useRef<string>(undefined)
  now.current = items[active]?.insertText
  const close = () => {
    // From now on the answer to an earlier request is ignored. It must not open the list again.
    asked.current++
    clearTimeout(timer.current)
    show(none, list.current.typed)
  }
  const look = (typed: Typed) => {
    const { text, caret } = typed
    const question = ++asked.current
    clearTimeout(timer.current)
    hasChosen.current = false
    if (!hasTrigger(text.slice(0, caret), client.host?.completionTriggerCharacters ?? []))
      return show(none, typed)
    // The answer may take a while. Until then, a person can take an item of the last one.
    show(narrowed(list.current.items, list.current.typed, typed), typed, now.current)
    const params = { channel: chat, kind: 'userMessage', text, offset: caret }
    const ask = (againMs: number) =>
      client.ask('completions', params).then(
        (found) => {
          if (asked.current !== question) return
          const isNew = againMs === firstAgainMs && !hasChosen.current
          show(found.items, typed, isNew ? undefined : now.current)
          if (ownMember(found, 'incomplete') !== true) return
          timer.current = setTimeout(() => void ask(Math.min(2 * againMs, longestAgainMs)), againMs)
        },
        // A page without completions is still usable, so a failure only closes the list.
        () => asked.current === question && show(none, typed),
      )
    timer.current = setTimeout(() => void ask(firstAgainMs), pauseMs)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const choose = (at: number) => {
    hasChosen.current = true
    setActive(at)
  }
  return { items, active, setActive: choose, look, close }
}

/** Whether the last word may have completions, so that the host is not asked at every key. */
export function hasTrigger(text: string, triggers: readonly string[]): boolean {
  const [, trigger = ''] = /(?:^|\s)[([{"'`]?([^\s\w])\S*$/.exec(text) ?? []
  if (!triggers.includes(trigger)) return false
  return trigger !== '/' || /^\s*\S*$/.test(text)
}

/** The completions of an earlier text that still fit the word before the caret, as completions of this word. */
export function narrowed(
  items: readonly CompletionItem[],
  earlier: Typed,
  { text, caret }: Typed,
): readonly CompletionItem[] {
  return items.flatMap((item) => {
    const { insertText, rangeStart = earlier.caret, rangeEnd = earlier.caret } = item
    const isSameWord =
      rangeEnd === earlier.caret && text.slice(0, rangeStart) === earlier.text.slice(0, rangeStart)
    const word = text.slice(rangeStart, caret)
    return isSameWord && word !== '' && hasLetters(insertText, word) ? [{ ...item, rangeEnd: caret }] : []
  })
}

/** Whether a text has all letters of a word, in their order. The host finds by the same rule, and may find less. */
function hasLetters(text: string, word: string): boolean {
  const lower = text.toLowerCase()
  let at = 0
  for (const letter of word.toLowerCase()) {
    at = lower.indexOf(letter, at) + 1
    if (at === 0) return false
  }
  return true
}

/** The text with the word before the caret completed, and where the caret is then. */
export function completed({ text, caret }: Typed, item: CompletionItem): Typed {
  const { insertText, rangeStart = caret, rangeEnd = caret } = item
  const after = text.slice(rangeEnd)
  const inserted = /^\s/.test(after) ? insertText : `${insertText} `
  return {
    text: `${text.slice(0, rangeStart)}${inserted}${after}`,
    caret: rangeStart + insertText.length + 1,
  }
}
