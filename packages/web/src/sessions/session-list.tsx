import type { SessionSummary } from '@atrium/protocol/session/state'
import { Search } from 'lucide'
import { useCallback, useId, useMemo, useRef, useState } from 'preact/hooks'
import { useMay } from '../link/role.ts'
import { Button } from '../ui/button.tsx'
import { useCommands } from '../ui/commands.ts'
import { Empty } from '../ui/empty.tsx'
import { Icon } from '../ui/icon.tsx'
import { useStored } from '../ui/use-stored.ts'
import { VirtualBlocks } from '../ui/virtual-blocks.tsx'
import { filtered, filters, groupings, groupsOf, isArchived, matching } from './grouping.ts'
import type { Filter, Grouping } from './grouping.ts'
import { usePins } from './pins.ts'
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
  const [filter, setFilter] = useState<Filter>('all')
  const [grouping, setGrouping] = useStored<Grouping>('session-groups', groupings)
  const { pinned, togglePin } = usePins()
  const [showArchived, setShowArchived] = useState(false)
  const archived = sessions.filter(isArchived).length
  const answers = useMay('approve')
  const groups = useMemo(() => {
    const shown = sessions.filter((session) => showArchived || search !== '' || !isArchived(session))
    const found = filtered(matching(shown, search), filter)
    return groupsOf(found, { now: Date.now(), answers, grouping, pinned })
  }, [sessions, search, filter, grouping, pinned, showArchived, answers])
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
      <div class="session-choices">
        <Pick label="Which sessions" all={filters} chosen={filter} onPick={setFilter} />
        <Pick label="Groups" all={groupings} chosen={grouping} onPick={setGrouping} />
      </div>
      <div class="session-groups" data-scroller>
        {groups.map(({ title, asks, sessions: each }) => (
          <section key={title} aria-label={title}>
            <h2 class={asks ? 'needs-you' : ''}>
              {title} <span class="count">{each.length}</span>
            </h2>
            <VirtualBlocks as="ul" count={each.length} rowHeight={rowHeight} render={rowOf(each)} />
          </section>
        ))}
        {groups.length === 0 && (
          <NoSessions listed={listed} searched={search !== '' || filter !== 'all'} archived={archived} />
        )}
        {archived > 0 && search === '' && (
          <Button look="quiet" class="archived-toggle" onClick={() => setShowArchived(!showArchived)}>
            {showArchived ? 'Hide archived' : `Show ${archived} archived`}
          </Button>
        )}
      </div>
      <SessionMenu
        id={menu}
        session={sessions.find(({ resource }) => resource === asked)}
        pinned={asked !== undefined && pinned.has(asked)}
        onPin={togglePin}
        {...actions}
      />
    </nav>
  )
}

interface PickProps<N extends string> {
  readonly label: string
  readonly all: readonly N[]
  readonly chosen: N
  readonly onPick: (name: N) => void
}

function Pick<N extends string>({ label, all, chosen, onPick }: PickProps<N>) {
  return (
    <select
      aria-label={label}
      value={chosen}
      onChange={({ currentTarget }) => {
        const picked = all.find((each) => each === currentTarget.value)
        if (picked !== undefined) onPick(picked)
      }}
    >
      {all.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  )
}

interface NoSessionsProps {
  readonly listed: boolean
  readonly searched: boolean
  /** The number of sessions that are not shown, because they are archived. */
  readonly archived: number
}

function NoSessions({ listed, searched, archived }: NoSessionsProps) {
  if (searched) return <Empty title="No session fits" />
  if (!listed) return <Empty title="Asking the host for its sessions…" />
  if (archived > 0) return <Empty title="All sessions are archived" />
  return (
    <Empty title="No sessions yet">
      <p>A session is a conversation with an agent in a folder. It goes on when this page is closed.</p>
    </Empty>
  )
}
