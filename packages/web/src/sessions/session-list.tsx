import type { SessionSummary } from '@atrium/protocol/session/state'
import { Search } from 'lucide'
import { useCallback, useId, useMemo, useRef, useState } from 'preact/hooks'
import { useMay } from '../link/role.ts'
import { Button } from '../ui/button.tsx'
import { useCommands } from '../ui/commands.ts'
import { Empty } from '../ui/empty.tsx'
import { Icon } from '../ui/icon.tsx'
import { VirtualBlocks } from '../ui/virtual-blocks.tsx'
import { groupsOf, isArchived, matching } from './grouping.ts'
import { SessionMenu } from './session-menu.tsx'
import { SessionRow } from './session-row.tsx'
import type { SessionRowActions } from './session-row.tsx'

interface Props extends SessionRowActions {
  readonly sessions: readonly SessionSummary[]
  /** Whether the list has come from the host. */
  readonly listed: boolean
  readonly selected: string | undefined
}

/** The usual height of a row, in pixels. */
const rowHeight = 58

/** The sessions of the host, those that need a person first. */
export function SessionListView({ sessions, listed, selected, onOpen, ...actions }: Props) {
  const [search, setSearch] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useCommands(
    useMemo(
      () => [{ id: 'search', label: 'Search sessions', keys: '/', run: () => field.current?.focus() }],
      [],
    ),
  )
  const menu = useId()
  const [asked, setAsked] = useState<string>()
  const onMenu = useCallback(({ resource }: SessionSummary) => setAsked(resource), [])
  const [showArchived, setShowArchived] = useState(false)
  const archived = sessions.filter(isArchived).length
  const answers = useMay('approve')
  const groups = useMemo(() => {
    const shown = sessions.filter((session) => showArchived || search !== '' || !isArchived(session))
    return groupsOf(matching(shown, search), Date.now(), answers)
  }, [sessions, search, showArchived, answers])
  const rowOf = (each: readonly SessionSummary[]) => (at: number) => {
    const session = each[at]
    return (
      session && (
        <SessionRow
          key={session.resource}
          session={session}
          selected={session.resource === selected}
          menu={menu}
          onOpen={onOpen}
          onMenu={onMenu}
        />
      )
    )
  }
  return (
    <nav class="sessions" aria-label="Sessions">
      <label class="search">
        <Icon of={Search} />
        <span class="hidden">Search sessions</span>
        <input
          ref={field}
          type="search"
          placeholder="Search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </label>
      <div class="session-groups" data-scroller>
        {groups.map(({ title, asks, sessions: each }) => (
          <section key={title} aria-label={title}>
            <h2 class={asks ? 'needs-you' : ''}>
              {title} <span class="count">{each.length}</span>
            </h2>
            <VirtualBlocks as="ul" count={each.length} rowHeight={rowHeight} render={rowOf(each)} />
          </section>
        ))}
        {groups.length === 0 && <NoSessions listed={listed} searched={search !== ''} archived={archived} />}
        {archived > 0 && search === '' && (
          <Button look="quiet" class="archived-toggle" onClick={() => setShowArchived(!showArchived)}>
            {showArchived ? 'Hide archived' : `Show ${archived} archived`}
          </Button>
        )}
      </div>
      <SessionMenu id={menu} session={sessions.find(({ resource }) => resource === asked)} {...actions} />
    </nav>
  )
}

interface NoSessionsProps {
  readonly listed: boolean
  readonly searched: boolean
  /** The number of sessions that are not shown, because they are archived. */
  readonly archived: number
}

function NoSessions({ listed, searched, archived }: NoSessionsProps) {
  if (searched) return <Empty title="No title, folder or agent has these words" />
  if (!listed) return <Empty title="Asking the host for its sessions…" />
  if (archived > 0) return <Empty title="All sessions are archived" />
  return (
    <Empty title="No sessions yet">
      <p>A session is a conversation with an agent in a folder. It goes on when this page is closed.</p>
    </Empty>
  )
}
