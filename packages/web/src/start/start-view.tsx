import type { Client } from '@atrium/client/client'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { List } from 'lucide'
import { InboxView } from '../inbox/inbox-view.tsx'
import { LinkState } from '../link/link-state.tsx'
import { useLiveChannel } from '../link/live-channel.ts'
import { RoleNote } from '../link/role-note.tsx'
import { useMay } from '../link/role.ts'
import { isArchived, moodOf, recentFolders } from '../sessions/grouping.ts'
import { Button } from '../ui/button.tsx'
import type { Hold } from '../ui/use-held.ts'
import { narrow, useMedia } from '../ui/use-media.ts'
import { NewTask } from './new-task.tsx'
import { SessionCards } from './session-cards.tsx'

interface Props {
  readonly client: Client
  readonly sessions: readonly SessionSummary[]
  readonly listed: boolean
  /** The folder that a new session begins with. Undefined: the host has not told it yet. */
  readonly path: string | undefined
  /** The agent that a person has asked for, and how often a new session was asked for. */
  readonly wanted: { readonly agent?: string | undefined; readonly asked: number }
  readonly onList: () => void
  readonly onCreated: (session: string) => void
  readonly hold: Hold
  readonly say: (text: string) => void
}

/** The first screen: the field for a task, and below it the inbox and the sessions at work. */
export function StartView({ client, sessions, listed, path, wanted, onList, onCreated, hold, say }: Props) {
  const { state } = useLiveChannel(client, 'root', rootUri)
  const creates = useMay('prompt')
  const isNarrow = useMedia(narrow)
  const shown = sessions.filter((session) => !isArchived(session))
  const agents = state?.agents ?? []
  const newest = sessions.toSorted((a, b) => b.modifiedAt.localeCompare(a.modifiedAt))[0]
  return (
    <main class="main start">
      {isNarrow && (
        <header class="start-head">
          <LinkState client={client} />
          <Button icon={List} onClick={onList}>
            All sessions
          </Button>
        </header>
      )}
      <div class="start-column">
        <h1>{creates ? 'What shall be done?' : 'Sessions of this host'}</h1>
        {creates ? (
          <NewTask
            client={client}
            agents={agents}
            path={path}
            folders={recentFolders(sessions)}
            agent={wanted.agent ?? newest?.provider}
            asked={wanted.asked}
            isFirst={listed && shown.length === 0}
            onCreated={onCreated}
            say={say}
          />
        ) : (
          <RoleNote needed="prompt" to="begin sessions" />
        )}
        <InboxView client={client} sessions={sessions} hold={hold} say={say} />
        <SessionCards title="At work" sessions={shown.filter((session) => moodOf(session) === 'working')} />
      </div>
    </main>
  )
}
