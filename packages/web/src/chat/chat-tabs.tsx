import type { ChatSummary } from '@atrium/protocol/chat/state'
import { Activity, activityOf } from '@atrium/protocol/status'
import { visibleText } from './shared/text.ts'

interface Props {
  readonly chats: readonly ChatSummary[]
  readonly selected: string
  readonly onOpen: (chat: string) => void
}

/** The chats of a session: its own, forks, side chats and workers. Nothing, if there is only one. */
export function ChatTabs({ chats, selected, onOpen }: Props) {
  const shown = chats.filter(
    ({ interactivity, resource }) => interactivity !== 'hidden' || resource === selected,
  )
  if (shown.length < 2) return null
  return (
    <nav class="tabs" aria-label="Chats of this session">
      {shown.map((chat) => (
        <button
          key={chat.resource}
          type="button"
          class={chat.resource === selected ? 'selected' : ''}
          aria-current={chat.resource === selected ? 'true' : undefined}
          onClick={() => onOpen(chat.resource)}
        >
          <span class={`mood ${moodClass(chat.status)}`} aria-hidden="true" />
          {labelOf(chat)}
        </button>
      ))}
    </nav>
  )
}

const names: { readonly [kind: string]: string | undefined } = {
  user: 'Chat',
  fork: 'Fork',
  sideChat: 'Side chat',
  tool: 'Worker',
}

/** The name of a tab. A fork has the title of its source, so its name says what it is. */
function labelOf({ title, origin }: ChatSummary): string {
  const kind = origin?.kind ?? 'user'
  const name = names[kind] ?? 'Chat'
  if (title === '') return name
  return visibleText(kind === 'fork' || kind === 'sideChat' ? `${name}: ${title}` : title)
}

function moodClass(status: number): string {
  const activity = activityOf(status)
  if (activity === Activity.InputNeeded) return 'needs-you'
  if (activity === Activity.InProgress) return 'working'
  return activity === Activity.Error ? 'failed' : 'idle'
}
