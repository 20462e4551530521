import type { ActiveTurn, ChatState, Turn } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { member, textMember } from '../chat/shared/member.ts'
import { visibleText } from '../chat/shared/text.ts'
import { nameOf } from './action-words.ts'

interface Decision {
  readonly key: string
  readonly what: string
  readonly allowed: boolean
  readonly who: string
  /** ISO 8601. The time of the decision, or else that of its turn. */
  readonly when: string | undefined
}

/** The list of decisions in these turns: who has allowed or denied what, when, and from which device. */
export function Decisions({ state }: { readonly state: ChatState }) {
  const found = decisionsIn(state)
  if (found.length === 0) return null
  return (
    <details class="decisions">
      <summary>{found.length === 1 ? 'One decision' : `${found.length} decisions`} up to here</summary>
      <ul>
        {found.map(({ key, what, allowed, who, when }) => (
          <li key={key}>
            <span class={allowed ? 'allowed' : 'denied'}>{allowed ? 'Allowed' : 'Denied'}</span> <b>{what}</b>{' '}
            <span>{who}</span>
            {when !== undefined && <time dateTime={when}>{momentWords(when)}</time>}
          </li>
        ))}
      </ul>
    </details>
  )
}

function decisionsIn({ turns, activeTurn }: ChatState): readonly Decision[] {
  const all: readonly (Turn | ActiveTurn)[] = activeTurn ? [...turns, activeTurn] : turns
  return all.flatMap((turn) =>
    turn.responseParts.flatMap((part) =>
      part.kind === 'toolCall' ? decisionsAbout(part.toolCall, turn.startedAt) : [],
    ),
  )
}

const kinds = [
  { name: 'decidedBy', suffix: '' },
  { name: 'resultDecidedBy', suffix: ': its result' },
] as const

function decisionsAbout(call: ToolCallState, startedAt: string | undefined): readonly Decision[] {
  const own = member(call._meta, 'x-atrium')
  return kinds.flatMap(({ name, suffix }) => {
    const decided = member(own, name)
    const who = nameOf(decided)
    if (who === undefined) return []
    const allowed = member(decided, 'permission') !== undefined || member(decided, 'approved') === true
    const when = textMember(decided, 'at') ?? startedAt
    const what = `${visibleText(call.displayName)}${suffix}`
    return [{ key: `${call.toolCallId}${name}`, what, allowed, who, when }]
  })
}

/** A time as people read it. An invalid one is shown as it is. */
export function momentWords(moment: string): string {
  const at = new Date(moment)
  if (Number.isNaN(at.getTime())) return visibleText(moment)
  return at.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'medium' })
}
