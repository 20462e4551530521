import type { Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { callIn } from '@atrium/protocol/chat/calls'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { FileEdit } from '@atrium/protocol/common/content'

/** The content that a file had when an edit of the file was previewed, as a content URI; null if the file did not exist. */
type Previewed = Uri | null

/** The key of the previews in the `_meta` of a tool call. They are stored there to survive a restart of the host. */
const key = 'x-atrium.over'

/**
 * The edits that `propose` made in a turn. If an agent makes an edit without `propose`, the content before the edit is not
 * known.
 */
export class Previews {
  readonly #proposed = new Map<string, { readonly uri: Uri; readonly previewed: Previewed }>()

  /**
   * Adds an edit that replaces the whole content of a file. `uri` is the file that the tool names. `edit` may name another
   * file, if the first is a link to it.
   */
  add(uri: Uri, edit: FileEdit): void {
    this.#proposed.set(keyOf(edit), { uri, previewed: edit.before?.content.uri ?? null })
  }

  /** Records in the `_meta` of a call that becomes ready which content its files had when their edits were previewed. */
  record(action: ChatAction, state: ChatState): ChatAction {
    if (action.type !== 'chat/toolCallReady') return action
    const before = callIn(state, action.toolCallId)?._meta
    // An action without edits leaves the earlier preview in force.
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

/** The content that a file had when a tool call previewed its edit; undefined if no preview of a whole-file edit is known. */
export function previewOf(state: ChatState, toolCallId: string, uri: Uri): Previewed | undefined {
  const all = callIn(state, toolCallId)?._meta?.[key]
  const previewed = isObject(all) ? all[uri] : undefined
  return typeof previewed === 'string' || previewed === null ? previewed : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/**
 * The key of an edit. It names the content before and after, and the file, because several files may get the same content.
 */
function keyOf({ before, after }: FileEdit): string {
  return JSON.stringify([before?.content.uri, after?.uri, after?.content.uri])
}
