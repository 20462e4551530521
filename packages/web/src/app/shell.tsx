import type { Client } from '@atrium/client/client'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { RoleProvider, may, useRole } from '../link/role.ts'
import { failureOf } from '../link/outcome-words.ts'
import { folderOf, isArchived, moodOf, recentFolders, titleOf } from '../sessions/grouping.ts'
import { RenameDialog } from '../sessions/rename-dialog.tsx'
import { useSessionList } from '../sessions/use-session-list.ts'
import { StartView } from '../start/start-view.tsx'
import { useCommands } from '../ui/commands.ts'
import type { Command } from '../ui/commands.ts'
import { Notices } from '../ui/notices.tsx'
import { useFileDrop } from '../ui/use-file-drop.ts'
import { useHeld } from '../ui/use-held.ts'
import { useLatest } from '../ui/use-latest.ts'
import { BrowserSettings } from './browser-settings.tsx'
import { KeptSessions } from './kept-sessions.tsx'
import { AutomationsView, SettingsView } from './late-views.ts'
import { Palette } from './palette.tsx'
import { go, useRoute } from '../ui/route.ts'
import { ShortcutsDialog } from './shortcuts-dialog.tsx'
import { Sidebar } from './sidebar.tsx'
import { useDeletions } from './use-deletions.ts'
import { useNotices } from './use-notices.ts'
import { usePresence } from './use-presence.ts'
import { useShortcuts } from './use-shortcuts.ts'
import { useWake } from './use-wake.ts'

/** The page of a browser that has entered: the session list beside the open session. */
export function Shell({ client }: { readonly client: Client }) {
  const route = useRoute()
  const role = useRole(client)
  const list = useSessionList(client)
  const board = useNotices()
  /** The dialog over the page, if one is open. */
  const [over, setOver] = useState<Over>()
  const [wanted, setWanted] = useState<{ readonly agent?: string | undefined; readonly asked: number }>({
    asked: 0,
  })
  const [singleKeys, setSingleKeys] = useShortcuts()
  const [renaming, setRenaming] = useState<SessionSummary>()
  const { say, dismiss, notices } = board
  const hold = useHeld(board)
  const { hidden, remove } = useDeletions(client, hold, say)
  const sessions = useMemo(
    () => list.sessions.filter(({ resource }) => !hidden.has(resource)),
    [list.sessions, hidden],
  )
  const open = sessions.find(({ resource }) => resource === route.session)
  useWake(client)
  usePresence(client)
  // Only the fields for messages take files. Elsewhere a dropped file must not take the place of the page.
  useFileDrop(undefined)
  useTitle(sessions, open, may(role, 'approve'))

  const dispatch = (session: SessionSummary, action: { readonly type: string }) =>
    void client.dispatch(session.resource, action).then((outcome) => {
      const failure = failureOf(outcome)
      if (failure !== undefined) say(failure)
    })
  // The functions that the list gets stay the same objects. So only the rows that have changed are drawn again.
  const archiveOne = useLatest((session: SessionSummary, isArchived: boolean) =>
    dispatch(session, archive(isArchived)),
  )
  const deleteOne = useLatest((session: SessionSummary) => {
    remove(session)
    if (session.resource === route.session) go({})
  })
  const tell = useCallback((text: string) => void say(text), [say])
  const create = useCallback((agent?: string) => {
    setWanted(({ asked }) => ({ agent, asked: asked + 1 }))
    go({})
  }, [])
  const createAny = useCallback(() => create(), [create])
  const find = useCallback(() => setOver('palette'), [])
  const close = () => setOver(undefined)
  useCommands(
    useShellCommands({
      setOver,
      create: createAny,
      sessions,
      selected: route.session,
      creates: may(role, 'prompt'),
    }),
  )
  const opened = open?.resource
  const archived = open !== undefined && isArchived(open)
  const onOpened = useLatest((act: (session: SessionSummary) => void) => open && act(open))
  useCommands(
    useMemo(() => {
      if (opened === undefined || !may(role, 'prompt')) return []
      const remove = { id: 'delete', label: 'Delete this session', run: () => onOpened(deleteOne) }
      return [
        { id: 'rename', label: 'Rename this session', run: () => onOpened(setRenaming) },
        {
          id: 'archive',
          label: archived ? 'Unarchive this session' : 'Archive this session',
          run: () => onOpened((session) => archiveOne(session, !archived)),
        },
        ...(may(role, 'own') ? [remove] : []),
      ]
    }, [opened, archived, role, onOpened, archiveOne, deleteOne]),
  )
  return (
    <RoleProvider value={role}>
      <div class={`shell${route.place === 'sessions' ? ' list' : ''}`}>
        <Sidebar
          client={client}
          say={tell}
          sessions={sessions}
          listed={list.listed}
          selected={route.session}
          onNew={createAny}
          onFind={find}
          onAutomations={toAutomations}
          onSettings={toSettings}
          onOpen={openSession}
          onRename={setRenaming}
          onArchive={archiveOne}
          onDelete={deleteOne}
        />
        {route.place === 'settings' && (
          <SettingsView
            client={client}
            browser={
              <BrowserSettings
                client={client}
                singleKeys={singleKeys}
                onSingleKeys={setSingleKeys}
                say={tell}
              />
            }
            onBack={toStart}
            say={tell}
          />
        )}
        {route.place === 'automations' && (
          <AutomationsView
            client={client}
            path={startPath(client, sessions[0], list.listed)}
            folders={recentFolders(sessions)}
            onBack={toStart}
            say={tell}
          />
        )}
        {route.session === undefined && (route.place === undefined || route.place === 'sessions') && (
          <StartView
            client={client}
            sessions={sessions}
            listed={list.listed}
            path={startPath(client, sessions[0], list.listed)}
            wanted={wanted}
            onList={toList}
            onCreated={openCreated}
            hold={hold}
            say={tell}
          />
        )}
        <KeptSessions client={client} route={route} say={tell} />
        {over === 'palette' && (
          <Palette
            client={client}
            sessions={sessions}
            onOpen={(session, chat) => go({ session, ...(chat !== undefined && { chat }) })}
            onAgent={create}
            onClose={close}
          />
        )}
        {over === 'shortcuts' && (
          <ShortcutsDialog singleKeys={singleKeys} onSingleKeys={setSingleKeys} onClose={close} />
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
    </RoleProvider>
  )
}

type Over = 'palette' | 'shortcuts'

interface ShellState {
  readonly setOver: (over: Over) => void
  readonly create: () => void
  readonly sessions: readonly SessionSummary[]
  readonly selected: string | undefined
  /** Whether this page may create sessions. */
  readonly creates: boolean
}

/** The commands that are offered on every screen. */
function useShellCommands({ setOver, create, sessions, selected, creates }: ShellState): readonly Command[] {
  return useMemo(() => {
    const step = (by: number) => {
      const at = sessions.findIndex(({ resource }) => resource === selected)
      const next = sessions[at < 0 ? 0 : at + by]
      if (next) go({ session: next.resource })
    }
    return [
      {
        id: 'palette',
        label: 'Find a session or an action',
        keys: 'Mod+k',
        run: () => setOver('palette'),
      },
      { id: 'shortcuts', label: 'Show all shortcuts', keys: '?', run: () => setOver('shortcuts') },
      ...(creates ? [{ id: 'new', label: 'New session', keys: 'n', run: create }] : []),
      { id: 'next', label: 'Next session of the list', keys: 'j', run: () => step(1) },
      { id: 'previous', label: 'Previous session of the list', keys: 'k', run: () => step(-1) },
      { id: 'automations', label: 'Automations', run: toAutomations },
      { id: 'settings', label: 'Settings', keys: ',', run: toSettings },
      { id: 'home', label: 'All sessions', keys: 'a', run: toList },
    ]
  }, [setOver, create, sessions, selected, creates])
}

const toStart = () => go({})
const toSettings = () => go({ place: 'settings' })
const toAutomations = () => go({ place: 'automations' })
const toList = () => go({ place: 'sessions' })
const openCreated = (session: string) => go({ session })
const openSession = ({ resource }: SessionSummary) => go({ session: resource })
const archive = (isArchived: boolean) => ({ type: 'session/isArchivedChanged', isArchived })
const rename = (title: string) => ({ type: 'session/titleChanged', title })

/**
 * The folder that a new session begins with: that of the newest session, or else the default directory of the
 * host. Undefined as long as the host has told neither.
 */
function startPath(client: Client, session: SessionSummary | undefined, listed: boolean): string | undefined {
  const last = session === undefined ? '' : folderOf(session)
  if (last !== '') return last
  if (!client.host || !listed) return undefined
  return folderOf({ workingDirectories: [client.host.defaultDirectory ?? 'file:///'] })
}

/**
 * Sets the title of the page. The title has the number of sessions that need this person, for people who look at another
 * tab. Sessions that only somebody else may answer do not count.
 */
function useTitle(
  sessions: readonly SessionSummary[],
  open: SessionSummary | undefined,
  answers: boolean,
): void {
  const count = answers ? sessions.filter((session) => moodOf(session) === 'needs you').length : 0
  const title = `${count > 0 ? `(${count}) ` : ''}${open ? `${titleOf(open)} · ` : ''}Atrium`
  useEffect(() => {
    document.title = title
  }, [title])
}
