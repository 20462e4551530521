import type { Client } from '@atrium/client/client'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { SessionView } from '../chat/session-view.tsx'
import { folderOf, moodOf, titleOf } from '../sessions/grouping.ts'
import { NewSessionDialog } from '../sessions/new-session-dialog.tsx'
import { RenameDialog } from '../sessions/rename-dialog.tsx'
import { useSessionList } from '../sessions/use-session-list.ts'
import { Notices } from '../ui/notices.tsx'
import { PastView } from './past-view.tsx'
import { go, useRoute } from './route.ts'
import { Sidebar } from './sidebar.tsx'
import { useDeletions } from './use-deletions.ts'
import { useNotices } from './use-notices.ts'
import { useWake } from './use-wake.ts'
import { Welcome } from './welcome.tsx'

/** The page of a browser that has entered: the sessions beside the open one. */
export function Shell({ client }: { readonly client: Client }) {
  const route = useRoute()
  const list = useSessionList(client)
  const board = useNotices()
  const { hidden, remove } = useDeletions(client, board)
  const [creating, setCreating] = useState(false)
  const [renaming, setRenaming] = useState<SessionSummary>()
  const { say, dismiss, notices } = board
  const sessions = list.sessions.filter(({ resource }) => !hidden.has(resource))
  const open = sessions.find(({ resource }) => resource === route.session)
  useWake(client)
  useTitle(sessions, open)

  const dispatch = (session: SessionSummary, action: { readonly type: string }) =>
    void client.dispatch(session.resource, action).then((outcome) => {
      if (outcome.outcome !== 'accepted') say(`The host refused: ${outcome.reason}`)
    })
  const openChat = useCallback(
    (chat: string) => go({ ...(route.session !== undefined && { session: route.session }), chat }),
    [route.session],
  )
  const tell = useCallback((text: string) => void say(text), [say])
  const create = useCallback(() => setCreating(true), [])
  return (
    <div class={`shell${route.session === undefined ? '' : ' inside'}`}>
      <Sidebar
        client={client}
        sessions={sessions}
        listed={list.listed}
        selected={route.session}
        onNew={create}
        onOpen={({ resource }) => go({ session: resource })}
        onRename={setRenaming}
        onArchive={(session, isArchived) => dispatch(session, archive(isArchived))}
        onDelete={(session) => {
          remove(session)
          if (session.resource === route.session) go({})
        }}
      />
      {route.session === undefined ? (
        <Welcome client={client} onNew={create} />
      ) : (
        <SessionView
          key={route.session}
          client={client}
          session={route.session}
          chat={route.chat}
          onBack={() => go({})}
          onOpenChat={openChat}
          say={tell}
          past={(chat) => (
            <PastView client={client} session={route.session ?? ''} chat={chat} openChat={openChat} />
          )}
        />
      )}
      {creating && (
        <NewSessionDialog
          client={client}
          path={startPath(client, open ?? sessions[0])}
          onCreated={(session) => {
            setCreating(false)
            go({ session })
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {renaming && (
        <RenameDialog
          title={titleOf(renaming)}
          onRename={(title) => dispatch(renaming, rename(title))}
          onClose={() => setRenaming(undefined)}
        />
      )}
      <Notices notices={notices} onDismiss={dismiss} />
    </div>
  )
}

const archive = (isArchived: boolean) => ({ type: 'session/isArchivedChanged', isArchived })
const rename = (title: string) => ({ type: 'session/titleChanged', title })

/** The folder of the last session, else the one in which the host lets clients browse first. */
function startPath(client: Client, session: SessionSummary | undefined): string {
  const last = session === undefined ? '' : folderOf(session)
  if (last !== '') return last
  const folder = client.host?.defaultDirectory ?? 'file:///'
  return folderOf({ workingDirectories: [folder] })
}

/** The title of the page tells how many sessions need a person, also in a tab that is not shown. */
function useTitle(sessions: readonly SessionSummary[], open: SessionSummary | undefined): void {
  const count = sessions.filter((session) => moodOf(session) === 'needs you').length
  const title = `${count > 0 ? `(${count}) ` : ''}${open ? `${titleOf(open)} · ` : ''}Atrium`
  useEffect(() => {
    document.title = title
  }, [title])
}
