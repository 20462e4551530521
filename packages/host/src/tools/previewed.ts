import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { callIn } from '@atrium/protocol/chat/calls'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { FileEdit } from '@atrium/protocol/common/content'

/** What a file held when people were shown a whole new text for it: its content, or nothing where there was no such file. */
type Held = Uri | null

/** Where a call says that: it stays with the call, also when the host has gone meanwhile. */
const key = 'x-atrium.over'

/** What was proposed in a turn. Only of that it is known what it would be written over: agents show what they like. */
export class Previews {
  readonly #proposed = new Map<string, { readonly uri: Uri; readonly held: Held }>()

  /** A whole new text for a file, which a tool calls by this name. */
  add(uri: Uri, edit: FileEdit): void {
    this.#proposed.set(nameOf(edit), { uri, held: edit.before?.content.uri ?? null })
  }

  /** A call that asks says what its files held. */
  record(action: Action, state: ChatState): Action {
    if (action.type !== 'chat/toolCallReady') return action
    const ready = action as Extract<ChatAction, { readonly type: 'chat/toolCallReady' }>
    const before = callIn(state, ready.toolCallId)?._meta
    // What was shown before stands until something else is.
    const held = ready.edits ? this.#heldBy(ready.edits.items) : before?.[key]
    const { [key]: own, ...others } = ready._meta ?? before ?? {}
    if (own === undefined && held === undefined) return action
    return { ...ready, _meta: { ...others, ...(held !== undefined && { [key]: held }) } } as Action
  }

  #heldBy(edits: readonly FileEdit[]): { readonly [uri: Uri]: Held } | undefined {
    const found = edits.flatMap((edit) => this.#proposed.get(nameOf(edit)) ?? [])
    return found.length === 0 ? undefined : Object.fromEntries(found.map(({ uri, held }) => [uri, held]))
  }
}

/** What people saw that a file held, when a call asked; nothing is known of calls that showed something else. */
export function previewOf(state: ChatState, toolCallId: string, uri: Uri): Held | undefined {
  const all = callIn(state, toolCallId)?._meta?.[key]
  const held = typeof all === 'object' && all !== null ? (all as Record<Uri, unknown>)[uri] : undefined
  return typeof held === 'string' || held === null ? held : undefined
}

/** The same text may be meant for several files. */
function nameOf({ before, after }: FileEdit): string {
  return JSON.stringify([before?.content.uri, after?.uri, after?.content.uri])
}
