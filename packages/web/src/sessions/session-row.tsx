import type { SessionSummary } from '@atrium/protocol/session/state'
import { memo } from 'preact/compat'
import { useMay } from '../link/role.ts'
import { Ago } from '../ui/ago.tsx'
import { MenuButton } from '../ui/menu.tsx'
import { fragmentOf } from '../ui/route.ts'
import { ChangeCounts } from './change-counts.tsx'
import { folderOf, isUnread, lastName, moodOf, titleOf } from './grouping.ts'

export interface SessionRowActions {
  readonly onOpen: (session: SessionSummary) => void
  readonly onRename: (session: SessionSummary) => void
  readonly onArchive: (session: SessionSummary, archived: boolean) => void
  readonly onDelete: (session: SessionSummary) => void
}

interface Props {
  readonly session: SessionSummary
  readonly selected: boolean
  /** The id of the menu that all rows share. */
  readonly menu: string
  readonly onOpen: SessionRowActions['onOpen']
  readonly onMenu: (session: SessionSummary) => void
}

/** A session in the list: what it is, what it does, where, and since when. */
export const SessionRow = memo(function SessionRow({ session, selected, menu, onOpen, onMenu }: Props) {
  const mood = moodOf(session)
  const unread = isUnread(session) && !selected
  const folder = lastName(folderOf(session))
  const changes = useMay('prompt')
  const answers = useMay('approve')
  const words = mood === 'needs you' && !answers ? 'Waits for somebody who may answer' : moodWords[mood]
  const activity = mood === 'idle' ? undefined : (session.activity ?? words)
  return (
    <li class={`session${selected ? ' selected' : ''}${unread ? ' unread' : ''}`}>
      <a
        href={fragmentOf({ session: session.resource })}
        aria-current={selected ? 'page' : undefined}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return
          event.preventDefault()
          onOpen(session)
        }}
      >
        <span class={`mood ${mood.replace(' ', '-')}`} title={words} aria-hidden="true" />
        <span class="session-text">
          <span class="session-title">
            {titleOf(session)}
            {unread && <span class="hidden"> (new)</span>}
          </span>
          {activity !== undefined && (
            <span class={`session-activity ${mood.replace(' ', '-')}`}>{activity}</span>
          )}
          <span class="session-about">
            {folder !== '' && <span class="session-folder">{folder}</span>}
            <span>{session.provider}</span>
            <ChangeCounts changes={session.changes} />
            <Ago moment={session.modifiedAt} />
          </span>
        </span>
      </a>
      {changes && (
        <MenuButton list={menu} label={`Actions for ${titleOf(session)}`} onOpen={() => onMenu(session)} />
      )}
    </li>
  )
})

const moodWords = {
  idle: 'Nothing runs',
  'needs you': 'Waits for you',
  working: 'Working',
  failed: 'The last turn failed',
} as const
