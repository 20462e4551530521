import type { CompletionItem } from '@atrium/protocol/chat/commands'
import type { MessageAttachment } from '@atrium/protocol/chat/message'
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { useCommands } from '../../ui/commands.ts'
import { useShown } from '../../ui/shown.ts'
import { GrowingText } from '../../ui/growing-text.tsx'
import { Suggestions, optionId } from '../../ui/suggestions.tsx'
import { useChat } from '../shared/context.ts'
import { textMember } from '../shared/member.ts'
import { visibleText } from '../shared/text.ts'
import type { Draft } from './messages.ts'
import { completed, useCompletions } from './use-completions.ts'

interface Props {
  readonly draft: Draft
  readonly placeholder: string
  readonly onDraft: (draft: Draft) => void
  /** Enter was pressed. `steer`: with Ctrl or Cmd. */
  readonly onEnter: (steer: boolean) => void
  readonly onFiles: (files: readonly File[]) => void
}

/** The text of a message, with completions of `@` files, `#` chats and `/` commands while it is written. */
export function MessageField({ draft, placeholder, onDraft, onEnter, onFiles }: Props) {
  const { client, chat } = useChat()
  const field = useRef<HTMLTextAreaElement>(null)
  const caret = useRef<number>(undefined)
  const list = useId()
  const { items, active, setActive, look, close } = useCompletions(client, chat)
  useCommands(
    useMemo(
      () => [{ id: 'message', label: 'Write a message', keys: 'm', run: () => field.current?.focus() }],
      [],
    ),
  )
  const shown = useShown()
  useEffect(() => {
    if (!shown) return
    // On a touch screen the field gets no focus, because the keyboard would then open over the conversation.
    if (matchMedia('(pointer: fine)').matches) field.current?.focus()
  }, [chat, shown])
  useLayoutEffect(() => {
    if (caret.current === undefined) return
    field.current?.setSelectionRange(caret.current, caret.current)
    caret.current = undefined
  }, [draft.text])
  const pick = (at: number) => {
    const item = items[at]
    if (!item) return
    const next = completed(
      { text: draft.text, caret: field.current?.selectionEnd ?? draft.text.length },
      item,
    )
    caret.current = next.caret
    onDraft({ ...draft, text: next.text, attachments: withAttachment(draft.attachments, item) })
    close()
  }
  /** Handles a key while the list of completions is open. Returns whether the key was for the list. */
  const listKey = (key: string): boolean => {
    if (items.length === 0) return false
    const step = { ArrowDown: 1, ArrowUp: -1 }[key]
    if (step !== undefined) setActive((active + step + items.length) % items.length)
    else if (key === 'Enter' || key === 'Tab') pick(active)
    else if (key === 'Escape') close()
    else return false
    return true
  }
  return (
    <div class="message-field">
      {items.length > 0 && (
        <Suggestions
          id={list}
          label="Suggestions"
          items={items.map(suggestionOf)}
          active={active}
          onActive={setActive}
          onPick={pick}
        />
      )}
      <span class="hidden" role="status">
        {items.length > 0 && `${items.length} suggestions`}
      </span>
      <GrowingText
        ref={field}
        value={draft.text}
        label="Message"
        placeholder={placeholder}
        suggestions={items.length > 0 ? { list, active: optionId(list, active) } : undefined}
        onInput={(text) => {
          onDraft({ ...draft, text })
          look({ text, caret: field.current?.selectionEnd ?? text.length })
        }}
        onBlur={close}
        onKeyDown={(event) => {
          if (event.isComposing) return
          if (!event.shiftKey && listKey(event.key)) return event.preventDefault()
          if (event.key !== 'Enter' || event.shiftKey) return
          event.preventDefault()
          onEnter(event.ctrlKey || event.metaKey)
        }}
        onPaste={(event) => {
          const pasted = [...(event.clipboardData?.files ?? [])]
          if (pasted.length === 0) return
          event.preventDefault()
          onFiles(pasted)
        }}
      />
    </div>
  )
}

function suggestionOf({ insertText, attachment }: CompletionItem) {
  const about = textMember(attachment._meta, 'description')
  return { label: visibleText(insertText), about: about === undefined ? undefined : visibleText(about) }
}

/** Adds the attachment of a completion. A command gets no attachment, because it is in the text already. */
function withAttachment(
  all: readonly MessageAttachment[],
  { attachment }: CompletionItem,
): readonly MessageAttachment[] {
  const isKnown = all.some((each) => each.type === attachment.type && each.label === attachment.label)
  return attachment.displayKind === 'command' || isKnown ? all : [...all, attachment]
}
