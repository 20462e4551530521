import type { SessionSummary } from '@atrium/protocol/session/state'
import { Archive, ArchiveRestore, Pencil, Pin, PinOff, Trash2 } from 'lucide'
import { useMay } from '../link/role.ts'
import { MenuList } from '../ui/menu.tsx'
import { isArchived, titleOf } from './grouping.ts'
import type { SessionRowActions } from './session-row.tsx'

interface Props extends Omit<SessionRowActions, 'onOpen'> {
  readonly id: string
  /** The session whose row has opened the menu. */
  readonly session: SessionSummary | undefined
  readonly pinned: boolean
  readonly onPin: (session: SessionSummary) => void
}

/**
 * The actions for a session of the list. All rows share this menu, because a row is drawn anew when its session moves to another
 * group, for example at the end of a turn. A menu in the row would close then.
 */
export function SessionMenu({ id, session, pinned, onPin, onRename, onArchive, onDelete }: Props) {
  const deletes = useMay('own')
  if (!session) return <MenuList id={id} label="Actions" items={[]} />
  const archived = isArchived(session)
  const remove = { label: 'Delete', icon: Trash2, danger: true, onPick: () => onDelete(session) }
  return (
    <MenuList
      id={id}
      label={`Actions for ${titleOf(session)}`}
      items={[
        { label: pinned ? 'Unpin' : 'Pin', icon: pinned ? PinOff : Pin, onPick: () => onPin(session) },
        { label: 'Rename', icon: Pencil, onPick: () => onRename(session) },
        {
          label: archived ? 'Unarchive' : 'Archive',
          icon: archived ? ArchiveRestore : Archive,
          onPick: () => onArchive(session, !archived),
        },
        ...(deletes ? [remove] : []),
      ]}
    />
  )
}
