import { Archive, ArchiveRestore, Pencil, Trash2 } from 'lucide'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { memo } from 'preact/compat'
import { useMay } from '../link/role.ts'
import { Ago } from '../ui/ago.tsx'
import { Menu } from '../ui/menu.tsx'
import { folderOf, isArchived, isUnread, lastName, moodOf, titleOf } from './grouping.ts'

export interface SessionRowActions {
  readonly onOpen: (session: SessionSummary) => void
  readonly onRename: (session: SessionSummary) => void
  readonly onArchive: (session: SessionSummary, archived: boolean) => void
  readonly onDelete: (session: SessionSummary) => void
}

interface Props extends SessionRowActions {
  readonly session: SessionSummary
  readonly selected: boolean
}

/** A session in the list: what it is, what it does, where, and since when. */
export const SessionRow = memo(function SessionRow({ session, selected, ...actions }: Props) {
  const mood = moodOf(session)
  const unread = isUnread(session) && !selected
  const archived = isArchived(session)
  const folder = lastName(folderOf(session))
  const changes = useMay('prompt')
  const deletes = useMay('own')
  const answers = useMay('approve')
  const words = mood === 'needs you' && !answers ? 'Waits for somebody who may answer' : moodWords[mood]
  const activity = mood === 'idle' ? undefined : (session.activity ?? words)
  return (
    <li class={`session${selected ? ' selected' : ''}${unread ? ' unread' : ''}`}>
      <a
        href={`#/session/${encodeURIComponent(session.resource)}`}
        aria-current={selected ? 'page' : undefined}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return
          event.preventDefault()
          actions.onOpen(session)
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
            <Ago moment={session.modifiedAt} />
          </span>
        </span>
      </a>
      {changes && (
        <Menu
          label={`Actions for ${titleOf(session)}`}
          items={[
            { label: 'Rename', icon: Pencil, onPick: () => actions.onRename(session) },
            {
              label: archived ? 'Unarchive' : 'Archive',
              icon: archived ? ArchiveRestore : Archive,
              onPick: () => actions.onArchive(session, !archived),
            },
            ...(deletes
              ? [{ label: 'Delete', icon: Trash2, danger: true, onPick: () => actions.onDelete(session) }]
              : []),
          ]}
        />
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
