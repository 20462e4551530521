import type { Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { callIn } from '@atrium/protocol/chat/calls'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { FileEdit } from '@atrium/protocol/common/content'

/** The content of a file when an edit of it was previewed, as a content URI; null where the file did not exist. */
type Previewed = Uri | null

/** Key in the `_meta` of a tool call, which survives a restart of the host. */
const key = 'x-atrium.over'

/** Edits that `propose` made in a turn. Of edits that an agent made up by itself the content before is not known. */
export class Previews {
  readonly #proposed = new Map<string, { readonly uri: Uri; readonly previewed: Previewed }>()

  /** Adds an edit that replaces the whole content of a file. `uri` is the file that the tool names: `edit` may name its link target. */
  add(uri: Uri, edit: FileEdit): void {
    this.#proposed.set(keyOf(edit), { uri, previewed: edit.before?.content.uri ?? null })
  }

  /** Writes into the `_meta` of a call that becomes ready the content that its files have in the preview. */
  record(action: ChatAction, state: ChatState): ChatAction {
    if (action.type !== 'chat/toolCallReady') return action
    const before = callIn(state, action.toolCallId)?._meta
    // Without new edits the earlier preview stays in force.
    const previewed = action.edits ? this.#previewedIn(action.edits.items) : before?.[key]
    const { [key]: own, ...others } = action._meta ?? before ?? {}
    if (own === undefined && previewed === undefined) return action
    return { ...action, _meta: { ...others, ...(previewed !== undefined && { [key]: previewed }) } }
  }

  #previewedIn(edits: readonly FileEdit[]): { readonly [uri: Uri]: Previewed } | undefined {
    const found = edits.flatMap((edit) => this.#proposed.get(keyOf(edit)) ?? [])
    return found.length === 0
      ? undefined
      : Object.fromEntries(found.map(({ uri, previewed }) => [uri, previewed]))
  }
}

/** The content of a file in the preview of a tool call; undefined where no whole-file preview of it is known. */
export function previewOf(state: ChatState, toolCallId: string, uri: Uri): Previewed | undefined {
  const all = callIn(state, toolCallId)?._meta?.[key]
  const previewed = isObject(all) ? all[uri] : undefined
  return typeof previewed === 'string' || previewed === null ? previewed : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Names both sides of an edit, because several files may get the same content. */
function keyOf({ before, after }: FileEdit): string {
  return JSON.stringify([before?.content.uri, after?.uri, after?.content.uri])
}
